/** RFC 9110 §5.1: a field name is a token. */
export const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** RFC 9110 §5.5 without line breaks and NUL, which would let a value end the head, or hold another field. */
export const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
