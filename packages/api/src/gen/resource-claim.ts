// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** A device of a resource claim. */
export interface ClaimRequest {
  /** Resource claim of this machine. */
  claimName?: string;
  /** Request of the claim. */
  requestName?: string;
}

/** A resource claim of a machine. One of the two other fields is set. */
export interface VirtualMachineInstanceResourceClaim {
  /** Name by which devices refer to it. */
  name: string;
  /** ResourceClaim in the same namespace. */
  resourceClaimName?: string;
  /** ResourceClaimTemplate that one is made from for this machine. */
  resourceClaimTemplateName?: string;
}
