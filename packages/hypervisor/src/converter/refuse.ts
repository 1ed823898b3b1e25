import { errors } from "../errors.ts";

/** The error for a field that cannot become part of the machine, with what to do about it. */
export function refuse(field: string, why: string): Error {
  return errors.HypervisorConversionRefused(`convert ${field}: ${why}`, { fields: { field } });
}
