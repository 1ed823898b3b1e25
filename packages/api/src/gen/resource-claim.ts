// Generated from packages/api/schema by `npm run generate`. Do not edit.

/** Claim request. */
export interface ClaimRequest {
  /** Claim name. */
  claimName?: string;
  /** Request name. */
  requestName?: string;
}

/** Virtual machine instance resource claim. */
export interface VirtualMachineInstanceResourceClaim {
  /** Name. */
  name: string;
  /** Resource claim name. */
  resourceClaimName?: string;
  /** Resource claim template name. */
  resourceClaimTemplateName?: string;
}
