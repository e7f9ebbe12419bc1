package cli

import (
	"errors"
	"fmt"
	"strings"
)

// Confirm asks a question that only "y" and "yes" answer.
func (a *App) Confirm(question string) bool { return a.ConfirmOr(question, "no") == nil }

// ConfirmOr asks a question of a command that has --yes. Unless the answer is yes, the error
// is refusal, with advice where nobody answered: the input was at its end.
func (a *App) ConfirmOr(question, refusal string) error {
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	line, err := a.In.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			fmt.Fprintln(a.Stderr)
			return AdvisedError{Err: errors.New(refusal), Advice: "Nobody answered. To do it without being asked: --yes"}
		}
	}
	return errors.New(refusal)
}
