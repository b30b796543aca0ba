import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app/App";
import { applyTheme, chosenTheme } from "./app/theme";
import "./styles/base.css";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/policies.css";
import "./styles/runs.css";
import "./styles/data.css";
import "./styles/releases.css";
import "./styles/charts.css";

applyTheme(chosenTheme());
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
