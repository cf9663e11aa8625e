import { create, settings } from '../../../adapters/thumbnails/none.js';
import { describeThumbnailer } from './thumbnailer.contract.js';

describeThumbnailer('none', () => create(settings.parse({})));
