import { defineErrors, type ErrorKind } from "@polyvirt/core";

export const imageErrorKinds = {
  ImageUnknown: {
    meaning: "The image is neither in the local store nor in the catalogue.",
    action: "Add it with `polyvirt image add`, build it with `polyvirt image build-demo`, or correct the reference.",
    retry: true,
  },
  ImageReferenceInvalid: {
    meaning: "The text is no image reference.",
    action: "Write NAME:TAG, optionally with a registry before the name.",
    retry: false,
  },
  ImagePlatformMissing: {
    meaning: "The image exists, but not for the wanted architecture.",
    action: "Use an image that was built for this architecture.",
    retry: false,
  },
  ImageCorrupt: {
    meaning: "A part of the image is missing or does not match its digest.",
    action: "Remove the image and add it again.",
    retry: false,
  },
  ImageAccessDenied: {
    meaning: "The registry does not give the image to whoever asked.",
    action: "Give the pod (or the VM's containerDisk) an image pull secret with valid credentials for the registry.",
    retry: true,
  },
  ImageRegistryFailed: {
    meaning: "The registry cannot be reached or does not answer as registries do.",
    action: "Check the network and the registry's settings: certificate authority, mirrors, insecure.",
    retry: true,
  },
  ImageArchiveUnknown: {
    meaning: "The file or folder is neither an OCI layout nor an archive of images.",
    action: "Give an OCI layout, an OCI archive, or what `docker save` and `skopeo copy docker-archive:` write.",
    retry: false,
  },
  ImageUnsafe: {
    meaning: "The image holds an entry that would be written outside its folder, or is no plain file.",
    action: "Do not use this image; find out where it comes from.",
    retry: false,
  },
} as const satisfies Record<string, ErrorKind>;

export const imageErrors = defineErrors(imageErrorKinds);
