import { isObject } from '../../../json/value.js';
import type { OtherFields } from '../../../ports/file-question.js';
import type { JsonObject } from '../../../ports/json.js';
import { serverQuestionText } from '../texts.js';

/** The request with the other fields that the server wants. @param files those that must be given */
export function withOthers(params: JsonObject, besides: OtherFields, files: readonly string[]): JsonObject {
  const { requestedSchema } = params;
  if (!isObject(requestedSchema) || !isObject(requestedSchema.properties)) return params;
  const properties = { ...besides.properties, ...requestedSchema.properties };
  return { ...params, requestedSchema: { ...requestedSchema, properties, required: [...files, ...besides.required] } };
}

/** A form of the other fields alone. */
export function formForOthers(message: string, { properties, required }: OtherFields, server: string): JsonObject {
  return {
    mode: 'form',
    message: serverQuestionText({ message, server, means: 'form' }, {}),
    requestedSchema: { type: 'object', properties, required: [...required] },
  };
}
