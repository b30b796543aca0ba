/** The last part of an IRI, with the whole of it for who points at it. */
export function Name({ iri }: { iri: string }) {
  const name = lastPart(iri);
  return name === iri ? <>{iri}</> : <abbr title={iri}>{name}</abbr>;
}

export function lastPart(iri: string): string {
  const match = /^[a-z][a-z0-9+.-]*:.*?([^/#:]+)[/#]?$/i.exec(iri);
  return match?.[1] ?? iri;
}
