import react from "@vitejs/plugin-react";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";
import { notices } from "./notices.ts";

const service = process.env["POLICY_ENGINE_SERVICE"] ?? "http://127.0.0.1:8642";
const proxied = { target: service, changeOrigin: true };

export default defineConfig({
  plugins: [react(), notices()],
  build: {
    outDir: fileURLToPath(new URL("../policy_engine/service/pages", import.meta.url)),
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
  },
  server: {
    port: 5173,
    fs: { allow: [".."] },
    proxy: { "/api": proxied, "/sign-in": proxied },
  },
});
