import { Link } from "../app/router";
import { TEMPLATES } from "./templates";

export function TemplateCards() {
  return (
    <ul className="cards">
      {TEMPLATES.map((template) => (
        <li key={template.file}>
          <Link to={`/policies/new?template=${template.file}`}>{template.name}</Link>
          <p>{template.about}</p>
        </li>
      ))}
    </ul>
  );
}
