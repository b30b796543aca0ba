import type { ReactNode } from "react";
import { Field } from "../../parts/Field";
import type { Material } from "./useMaterial";
import { nameOf, type Resource, type Setting } from "./schema";

interface Props {
  setting: Setting;
  material: Material;
  chosen: string;
}

/** One setting of a run, in the form that suits what it may be. */
export function SettingField({ setting, material, chosen }: Props) {
  if (setting.kind === "datasets") return <DatasetChoice setting={setting} material={material} chosen={chosen} />;
  if (setting.kind === "flag") return <Flag setting={setting} />;
  return (
    <Field label={nameOf(setting)} hint={setting.about}>
      {(given) => {
        const common = { ...given, name: setting.name, required: setting.isRequired };
        switch (setting.kind) {
          case "dataset":
          case "policy":
          case "release":
          case "model":
          case "description":
            return (
              <select {...common} defaultValue={chosen}>
                {(!setting.isRequired || chosen === "") && <option value="">Choose</option>}
                {optionsOf(setting.kind, material)}
              </select>
            );
          case "choice":
            return (
              <select {...common} defaultValue={String(setting.usual ?? "")}>
                {setting.choices.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            );
          case "number":
            return (
              <input
                {...common}
                type="number"
                min={setting.least}
                max={setting.most}
                step={setting.isWhole ? 1 : "any"}
                placeholder={setting.usual == null ? "" : String(setting.usual)}
              />
            );
          case "values":
          case "json":
            return <textarea {...common} rows={3} spellCheck={false} />;
          default:
            return <input {...common} autoComplete="off" placeholder={setting.kind === "list" ? "one, another" : ""} />;
        }
      }}
    </Field>
  );
}

function optionsOf(kind: Resource, material: Material): ReactNode {
  return [...new Map(namesOf(kind, material))].map(([id, name]) => (
    <option key={id} value={id}>
      {name}
    </option>
  ));
}

function namesOf(kind: Resource, material: Material): (readonly [string, string])[] {
  switch (kind) {
    case "dataset":
      return material.datasets.map((one) => [one.id, one.name] as const);
    case "policy":
      return material.policies.map((one) => [one.id, `${one.name}, version ${one.published_version}`] as const);
    case "release":
      return material.releases.map((one) => [one.run, one.output] as const);
    default:
      return material.models
        .filter((one) => (one.kind === "description") === (kind === "description"))
        .map((one) => [one.id, `${one.name}, ${one.kind}`] as const);
  }
}

function DatasetChoice({ setting, material, chosen }: Props) {
  const { datasets } = material;
  return (
    <fieldset>
      <legend>{nameOf(setting)}</legend>
      {datasets.map((one) => (
        <label key={one.id} className="check">
          <input
            type="checkbox"
            name={setting.name}
            value={JSON.stringify([one.iri, one.id])}
            defaultChecked={datasets.length === 1 || one.id === chosen}
          />{" "}
          {one.name} <span className="quiet">{one.iri}</span>
        </label>
      ))}
      <p className="fine">{setting.about}</p>
    </fieldset>
  );
}

function Flag({ setting }: { setting: Setting }) {
  return (
    <div>
      <label className="check">
        <input type="checkbox" name={setting.name} defaultChecked={setting.usual === true} /> {nameOf(setting)}
      </label>
      <p className="fine">{setting.about}</p>
    </div>
  );
}
