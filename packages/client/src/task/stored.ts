// biome-ignore lint/suspicious/noExplicitAny: a function of any kind
type NoJson = bigint | symbol | ((...args: any[]) => unknown)

// biome-ignore lint/suspicious/noConfusingVoidType: what a step without a result returns
type Kept = string | number | boolean | null | undefined | void

/**
 * What comes back of a value that was stored as JSON: a `Date` as text, objects without their methods, a `bigint` not at all.
 */
export type Stored<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? unknown
    : Value extends Kept
      ? Value
      : Value extends { toJSON(...args: never[]): infer Json }
        ? Stored<Json>
        : Value extends NoJson
          ? undefined
          : Value extends ReadonlyArray<unknown>
            ? { [Index in keyof Value]: Stored<Value[Index]> }
            : { [Key in keyof Value as Value[Key] extends NoJson ? never : Key]: Stored<Value[Key]> }
