import { describe, expect, it } from "vitest";
import { authenticate, readFrontProxyRules } from "./front-proxy.ts";

const rules = readFrontProxyRules({
  data: {
    "requestheader-client-ca-file": "PEM",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
    "requestheader-group-headers": '["X-Remote-Group"]',
    "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  },
});

const headers = {
  "x-remote-user": ["ann"],
  "x-remote-group": ["dev", "system:authenticated"],
  "x-remote-extra-authentication.kubernetes.io%2fpod-name": ["web"],
};

describe("authenticate", () => {
  it("believes the API server about the user", () => {
    expect(authenticate({ commonName: "front-proxy-client", headers }, rules)).toEqual({
      username: "ann",
      groups: ["dev", "system:authenticated"],
      extra: { "authentication.kubernetes.io/pod-name": ["web"] },
    });
  });

  it("believes nobody else", () => {
    expect(authenticate({ commonName: "ann", headers }, rules)).toBeUndefined();
    expect(authenticate({ commonName: undefined, headers }, rules)).toBeUndefined();
    expect(authenticate({ commonName: "front-proxy-client", headers }, undefined)).toBeUndefined();
    expect(authenticate({ commonName: "front-proxy-client", headers: {} }, rules)).toBeUndefined();
  });

  it("does not make two groups of one whose name has a comma", () => {
    const tricky = { "x-remote-user": ["eve"], "x-remote-group": ["guests,system:masters"] };
    expect(authenticate({ commonName: "front-proxy-client", headers: tricky }, rules)?.groups).toEqual([
      "guests,system:masters",
    ]);
  });

  it("trusts nobody when no authority is published", () => {
    expect(readFrontProxyRules({ data: {} })).toBeUndefined();
  });
});
