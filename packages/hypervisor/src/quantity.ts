/**
 * Quantities as numbers. Absent and malformed ones count as 0: the validation rule `quantities` reports the malformed
 * ones, and everything else may compute without a second check.
 */
import type { Quantity } from "@polyvirt/api";
import {
  formatQuantity,
  isQuantity as isQuantityText,
  parseQuantity,
  quantityOfBytes,
  quantityToInteger,
} from "@polyvirt/core";

export function isQuantity(value: Quantity): boolean {
  return isQuantityText(String(value));
}

/** Whole bytes, rounded up; exact up to 8 PiB. */
export function bytesOf(quantity: Quantity | undefined): number {
  if (quantity === undefined || !isQuantity(quantity)) return 0;
  return Number(quantityToInteger(parseQuantity(String(quantity))));
}

/** CPUs, possibly a fraction of one. */
export function cpusOf(quantity: Quantity | undefined): number {
  if (quantity === undefined || !isQuantity(quantity)) return 0;
  return Number(parseQuantity(String(quantity)).nano) / 1e9;
}

export function formatBytes(bytes: number): string {
  return formatQuantity(quantityOfBytes(bytes));
}
