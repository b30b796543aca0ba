import type { QueryAnswer } from "../api/types";
import { amount } from "./OwnBudgets";

type AnswerCost = NonNullable<QueryAnswer["cost"]>;

/** What statistics cost, and how far off their figures are. */
export function Cost({ cost, isDry }: { cost: AnswerCost; isDry: boolean }) {
  return (
    <div className="notice">
      <p>{priceOf(cost, isDry)}</p>
      <ul className="bullets">
        {cost.figures.flatMap((figure) => [
          ...figure.noise.map((noise) => (
            <li key={`${figure.name} ${noise.quantity}`}>
              {figure.name}, {noise.quantity}: within ±{short(noise.half_width)}, 19 times in 20
            </li>
          )),
          ...(figure.half_width_times_n == null
            ? []
            : [
                <li key={figure.name}>
                  {figure.name}: within ±{short(figure.half_width_times_n)} / n for n rows, 19 times in 20
                </li>,
              ]),
        ])}
      </ul>
    </div>
  );
}

function priceOf(cost: AnswerCost, isDry: boolean): string {
  if (!cost.is_charged) return `It cost nothing: it was answered before for ${amount(cost)}.`;
  return isDry ? `It would cost ${amount(cost)} of the budget.` : `It cost ${amount(cost)} of the budget.`;
}

function short(number: number): string {
  return number.toPrecision(3);
}
