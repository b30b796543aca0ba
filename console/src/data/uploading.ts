/** A file on its way to the service, in pieces: what arrived before a break is not sent again. */

import { ask, post } from "../api/client";
import { Refusal } from "../api/problems";
import type { Upload } from "../api/types";

const PIECE = 4 * 2 ** 20;
const LARGEST_DIGESTED = 256 * 2 ** 20;
const ATTEMPTS = 4;
const PAUSE = 1_000;

export interface Arrived {
  sent: number;
  size: number;
}

/** Uploads a file to what has a path: a dataset, or a model, which it answers with. */
export async function uploadFile<T>(
  to: string,
  file: File,
  signal: AbortSignal,
  tell: (arrived: Arrived) => void,
): Promise<T> {
  const upload = await post<Upload>(`${to}/uploads`, {
    name: file.name,
    size: file.size,
  }, signal);
  const path = `/uploads/${encodeURIComponent(upload.id)}`;
  let offset = upload.offset;
  while (offset < file.size) {
    tell({ sent: offset, size: file.size });
    offset = await sendPiece(path, file, offset, signal);
  }
  tell({ sent: file.size, size: file.size });
  return post<T>(`${path}:complete`, { sha256: await digestOf(file) }, signal);
}

/** The SHA-256 of a file that fits into memory, and nothing of one that does not. */
async function digestOf(file: File): Promise<string> {
  if (!window.isSecureContext || file.size > LARGEST_DIGESTED) return "";
  const digest = await window.crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sends the piece at an offset and returns the next offset, after a break from where it broke. */
async function sendPiece(path: string, file: File, offset: number, signal: AbortSignal): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await ask<Upload>("PATCH", path, {
        raw: file.slice(offset, offset + PIECE),
        headers: { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) },
        signal,
      });
      return answer.value.offset;
    } catch (error) {
      const isBreak = error instanceof Refusal && (error.status === 0 || error.status >= 500);
      if (!isBreak || attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => window.setTimeout(resolve, attempt * PAUSE));
      offset = await arrived(path, offset, signal);
    }
  }
}

async function arrived(path: string, offset: number, signal: AbortSignal): Promise<number> {
  try {
    return (await ask<Upload>("GET", path, { signal })).value.offset;
  } catch {
    return offset;
  }
}
