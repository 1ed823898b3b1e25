import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  quantityOf,
  subtractQuantities,
  type Quantity,
} from "@polyvirt/core";
import { traverse } from "../../cost-rules.ts";
import { args, declare, global, member, type FunctionDeclaration } from "../../functions.ts";
import type { Library } from "../../library.ts";
import { BOOL, DOUBLE, INT, opaque, type Type } from "../../types.ts";
import { CelError, CelObject, Double, canonicalInt, intFrom, type Value } from "../../values.ts";

export const QUANTITY: Type = opaque("kubernetes.Quantity");

class QuantityValue extends CelObject {
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  get typeName(): string {
    return "kubernetes.Quantity";
  }

  override equals(other: Value): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }

  override toJson(): unknown {
    return formatQuantity(this.quantity);
  }
}

const nanoPerUnit = 1_000_000_000n;

/** The value of a quantity's text; an error value when it is none. */
export function toQuantity(text: string): Value {
  if (!isQuantity(text)) {
    return new CelError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
  }
  return new QuantityValue(parseQuantity(text));
}

/** Quantities are capped here; one at the cap stands for anything larger. */
const capNano = (2n ** 63n - 1n) * nanoPerUnit;

/** The whole number that the quantity is; undefined with a fraction or beyond 64 bits. */
function asInteger({ quantity }: QuantityValue): number | bigint | undefined {
  if (quantity.nano >= capNano || quantity.nano <= -capNano) return undefined;
  return quantity.nano % nanoPerUnit === 0n ? intFrom(quantity.nano / nanoPerUnit) : undefined;
}

function asFloat({ quantity }: QuantityValue): Value {
  const whole = quantity.nano / nanoPerUnit;
  return new Double(Number(whole) + Number(quantity.nano % nanoPerUnit) / Number(nanoPerUnit));
}

const quantity = args.object(QUANTITY, QuantityValue);
const compare = (a: QuantityValue, b: QuantityValue): number => compareQuantities(a.quantity, b.quantity);
const whole = (value: number | bigint): Quantity => quantityOf(value, "DecimalExponent");
const parsing = ([text]: readonly Value[]): number => traverse(text);

const functions: readonly FunctionDeclaration[] = [
  declare("quantity", [global("string_to_quantity", [args.string], QUANTITY, toQuantity)], { cost: parsing }),
  declare("isQuantity", [global("is_quantity_string", [args.string], BOOL, isQuantity)], { cost: parsing }),
  declare("sign", [global("quantity_sign", [quantity], INT, (value) => canonicalInt(BigInt(compare(value, zero))))]),
  declare("isGreaterThan", [
    member("quantity_is_greater_than", [quantity, quantity], BOOL, (a, b) => compare(a, b) > 0),
  ]),
  declare("isLessThan", [member("quantity_is_less_than", [quantity, quantity], BOOL, (a, b) => compare(a, b) < 0)]),
  declare("compareTo", [member("quantity_compare_to", [quantity, quantity], INT, compare)]),
  declare("asApproximateFloat", [member("quantity_get_float", [quantity], DOUBLE, asFloat)]),
  declare("asInteger", [
    member(
      "quantity_get_int",
      [quantity],
      INT,
      (value) => asInteger(value) ?? new CelError("cannot convert value to integer"),
    ),
  ]),
  declare("isInteger", [member("quantity_is_integer", [quantity], BOOL, (value) => asInteger(value) !== undefined)]),
  declare("add", [
    member(
      "quantity_add",
      [quantity, quantity],
      QUANTITY,
      (a, b) => new QuantityValue(addQuantities(a.quantity, b.quantity)),
    ),
    member(
      "quantity_add_int",
      [quantity, args.int],
      QUANTITY,
      (a, b) => new QuantityValue(addQuantities(a.quantity, whole(b))),
    ),
  ]),
  declare("sub", [
    member(
      "quantity_sub",
      [quantity, quantity],
      QUANTITY,
      (a, b) => new QuantityValue(subtractQuantities(a.quantity, b.quantity)),
    ),
    member(
      "quantity_sub_int",
      [quantity, args.int],
      QUANTITY,
      (a, b) => new QuantityValue(subtractQuantities(a.quantity, whole(b))),
    ),
  ]),
];

const zero = new QuantityValue(quantityOf(0));

export const quantityLibrary: Library = {
  name: "kubernetes.quantity",
  functions,
  types: { "kubernetes.Quantity": QUANTITY },
};
