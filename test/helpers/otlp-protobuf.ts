/** Reads OTLP's protobuf messages by the numbers of opentelemetry-proto's fields, without its code. */

/** A field: a varint or a fixed number, or bytes. */
type Value = bigint | Buffer;

export class Fields {
  readonly #fields = new Map<number, Value[]>();

  constructor(bytes: Buffer) {
    let at = 0;
    const varint = (): bigint => {
      let value = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = bytes.readUInt8(at++);
        value |= BigInt(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const take = (length: number) => {
      at += length;
      if (at > bytes.length) throw new Error('a protobuf field ends after its message');
      return bytes.subarray(at - length, at);
    };
    while (at < bytes.length) {
      const tag = Number(varint());
      const type = tag & 7;
      if (type !== 0 && type !== 1 && type !== 2 && type !== 5) throw new Error(`wire type ${type}`);
      const value = type === 0 ? varint() : type === 1 ? take(8) : type === 5 ? take(4) : take(Number(varint()));
      this.#fields.set(tag >> 3, [...(this.#fields.get(tag >> 3) ?? []), value]);
    }
  }

  all(field: number): Fields[] {
    return this.buffers(field).map((bytes) => new Fields(bytes));
  }

  one(field: number): Fields | undefined {
    return this.all(field)[0];
  }

  buffers(field: number): Buffer[] {
    return (this.#fields.get(field) ?? []).filter((value): value is Buffer => Buffer.isBuffer(value));
  }

  text(field: number): string {
    return this.buffers(field)[0]?.toString('utf8') ?? '';
  }

  hex(field: number): string {
    return this.buffers(field)[0]?.toString('hex') ?? '';
  }

  varint(field: number): number | undefined {
    const value = this.#fields.get(field)?.[0];
    return typeof value === 'bigint' ? Number(value) : undefined;
  }

  fixed(field: number): number {
    return Number(this.buffers(field)[0]?.readBigUInt64LE() ?? 0n);
  }

  double(field: number): number {
    return this.buffers(field)[0]?.readDoubleLE() ?? 0;
  }

  doubles(field: number): number[] {
    const [bytes = Buffer.alloc(0)] = this.buffers(field);
    return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
  }
}

/** `repeated KeyValue` */
export function attributesIn(fields: Fields | undefined, field: number): Record<string, unknown> {
  const entries = fields?.all(field).map((pair) => [pair.text(1), anyValue(pair.one(2))]) ?? [];
  return Object.fromEntries(entries);
}

function anyValue(value: Fields | undefined): unknown {
  if (!value) return undefined;
  const flag = value.varint(2);
  const [double] = value.buffers(4);
  return flag !== undefined ? flag === 1 : (value.varint(3) ?? double?.readDoubleLE() ?? value.text(1));
}
