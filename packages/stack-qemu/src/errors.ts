/** A stack throws only the contract's closed set of errors; this file gives the package one place to import them from. */
export { errors } from "@polyvirt/stack";
