/** The grammar's states inside a number. From INTEGER on, a state accepts any number of digits. */
const SIGNED = 14;
const ZERO = 15;
const POINT = 16;
const EXPONENT = 17;
const EXPONENT_SIGNED = 18;
const INTEGER = 19;
const FRACTION = 20;
const EXPONENT_DIGITS = 21;

/** Not a state: the byte does not belong to the number, which is incomplete without it. */
export const NUMBER_BROKEN = 0;
/** Not a state: the byte does not belong to the number, which is complete without it. */
export const NUMBER_ENDED = 255;

/** The row of `NUMBER_STATES` for the first byte; each state has a row of its own after it. */
export const BEFORE_NUMBER = 13;

/** `[(state - BEFORE_NUMBER) << 8 | byte]`: the state after the byte, NUMBER_BROKEN or NUMBER_ENDED. */
export const NUMBER_STATES = new Uint8Array((EXPONENT_DIGITS - BEFORE_NUMBER + 1) << 8);

/** A number that stops in this state is complete. */
export function isNumberEnd(state: number): boolean {
  return state === ZERO || (state >= INTEGER && state <= EXPONENT_DIGITS);
}

function after(state: number, next: Record<string, number>): void {
  const row = (state - BEFORE_NUMBER) << 8;
  if (isNumberEnd(state)) NUMBER_STATES.fill(NUMBER_ENDED, row, row + 256);
  for (const [chars, there] of Object.entries(next)) {
    for (const char of chars) NUMBER_STATES[row | char.charCodeAt(0)] = there;
  }
}

after(BEFORE_NUMBER, { '-': SIGNED, '0': ZERO, '123456789': INTEGER });
after(SIGNED, { '0': ZERO, '123456789': INTEGER });
after(ZERO, { '.': POINT, eE: EXPONENT });
after(INTEGER, { '0123456789': INTEGER, '.': POINT, eE: EXPONENT });
after(POINT, { '0123456789': FRACTION });
after(FRACTION, { '0123456789': FRACTION, eE: EXPONENT });
after(EXPONENT, { '+-': EXPONENT_SIGNED, '0123456789': EXPONENT_DIGITS });
after(EXPONENT_SIGNED, { '0123456789': EXPONENT_DIGITS });
after(EXPONENT_DIGITS, { '0123456789': EXPONENT_DIGITS });
