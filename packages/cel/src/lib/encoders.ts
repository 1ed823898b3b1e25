import { args, declare, global } from "../functions.ts";
import type { Library } from "../library.ts";
import { BYTES, STRING } from "../types.ts";
import { CelError, base64Encode, type Value } from "../values.ts";

function decode(text: string): Value {
  const unpadded = text.replace(/=+$/, "");
  if (!/^[A-Za-z0-9+/]*$/.test(unpadded) || unpadded.length % 4 === 1) {
    return new CelError("illegal base64 data");
  }
  return Uint8Array.from(atob(unpadded), (character) => character.charCodeAt(0));
}

export const encodersLibrary: Library = {
  name: "encoders",
  functions: [
    declare("base64.decode", [global("base64_decode_string", [args.string], BYTES, decode)]),
    declare("base64.encode", [global("base64_encode_bytes", [args.bytes], STRING, base64Encode)]),
  ],
};
