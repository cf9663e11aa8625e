import { describe, expect, it } from '@jest/globals';
import type { Metadata } from 'sharp';
import { type Scaling, scalingOf } from '../../../adapters/previews/local/image/scaling.js';
import { LIMITS } from './previewer.contract.js';

function scaling(format: 'png' | 'jpeg', width: number, height: number, bytes: number): Scaling {
  const header = { format, width, height, channels: 3 } as Metadata;
  return scalingOf({ ...header, bytes, longest: Math.max(width, height) }, LIMITS);
}

describe('the scale of a picture', () => {
  it('of a screenshot with text and photographs leaves little to scale down a second time', () => {
    // its largest JPEG has an edge of 839 px
    const { edge } = scaling('png', 1920, 1080, 960_859);
    expect(edge).toBeGreaterThan(839);
    expect(edge).toBeLessThan(1000);
  });

  it('of a page that is longer than wide is counted by its area', () => {
    const wide = scaling('png', 1280, 4000, 1_500_000);
    const high = scaling('png', 4000, 1280, 1_500_000);
    expect(wide.edge).toBe(high.edge);
    expect(wide.edge).toBeLessThan(LIMITS.maxEdge);
  });

  it('of a photograph as a PNG is that of a photograph', () => {
    expect(scaling('png', 1920, 1080, 2_500_000).edge).toBe(1092);
    expect(scaling('png', 1920, 1080, 5_400_000).edge).toBe(1092);
  });

  it('of a photograph from a phone is one at which its decoder helps', () => {
    expect(scaling('jpeg', 4000, 3000, 1_000_000).edge).toBe(1333);
  });

  it('of a drawing of few bytes is the largest, and its preview may be a PNG', () => {
    expect(scaling('png', 3000, 2000, 90_000)).toMatchObject({ edge: LIMITS.maxEdge, mayBePng: true });
  });

  it('leads to no PNG that could not fit, unless the source was hardly compressed', () => {
    expect(scaling('png', 1920, 1080, 234_000).mayBePng).toBe(false);
    expect(scaling('png', 1920, 1080, 6_000_000).mayBePng).toBe(true);
  });
});
