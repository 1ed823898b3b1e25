import type { Clock } from "@polyvirt/core";

interface CachedToken {
  readonly token: string;
  readonly renewAt: number;
}

/** A token is renewed when this share of its life has passed. */
const renewShare = 0.8;
const latestRenewalMs = 24 * 60 * 60 * 1000;

/** Keeps the tokens of pods until it is time to renew them, so that refreshing a volume does not ask for a new one. */
export class TokenCache {
  readonly #clock: Clock;
  readonly #tokens = new Map<string, CachedToken>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `request` answers with a token and when it expires. */
  async get(key: string, request: () => Promise<{ token: string; expiresAt: number }>): Promise<string> {
    const known = this.#tokens.get(key);
    const now = this.#clock.now();
    if (known !== undefined && now < known.renewAt) return known.token;
    const { token, expiresAt } = await request();
    const lifetime = Math.max(0, expiresAt - now);
    this.#tokens.set(key, { token, renewAt: now + Math.min(lifetime * renewShare, latestRenewalMs) });
    return token;
  }

  /** Forgets the tokens whose key begins so. */
  forget(prefix: string): void {
    for (const key of this.#tokens.keys()) if (key.startsWith(prefix)) this.#tokens.delete(key);
  }
}
