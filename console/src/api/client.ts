/** Requests to the service: JSON in, JSON out, every refusal one kind of error. */

import { Refusal, refusalOf, UNREACHABLE } from "./problems";

export const BASE = "/api/v1";

export interface Answer<T> {
  value: T;
  etag: string;
  location: string;
}

export interface Options {
  body?: unknown;
  raw?: Blob;
  etag?: string | undefined;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
}

let token = "";

/** Keeps the token that the service wants to see on requests that change something. */
export function keepToken(value: string): void {
  token = value;
}

export async function ask<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const response = await send(method, path, options);
  const body = await bodyOf(response);
  if (!response.ok) {
    throw refusalOf(response.status, body, response.headers.get("X-Request-ID") ?? "");
  }
  return {
    value: body as T,
    etag: response.headers.get("ETag") ?? "",
    location: response.headers.get("Location") ?? "",
  };
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await ask<T>("GET", path, { signal })).value;
}

export async function post<T>(path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await ask<T>("POST", path, { body, signal })).value;
}

/** A text that is not JSON, such as a log. */
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await send("GET", path, { signal, headers: { Accept: "text/plain" } });
  if (response.ok) return response.text();
  throw refusalOf(response.status, await bodyOf(response), response.headers.get("X-Request-ID") ?? "");
}

async function send(method: string, path: string, options: Options): Promise<Response> {
  const headers = new Headers({ Accept: "application/json", ...options.headers });
  if (method !== "GET") headers.set("X-CSRF-Token", token);
  if (options.body !== undefined) headers.set("Content-Type", "application/json");
  if (options.etag) headers.set("If-Match", options.etag);
  const body = options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body));
  try {
    return await fetch(BASE + path, {
      method,
      headers,
      body,
      credentials: "same-origin",
      signal: options.signal ?? null,
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw UNREACHABLE;
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** Whatever was thrown, as a refusal that can be shown. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Refusal(-1, "", `The page made a mistake: ${message}`);
}
