package cli

import (
	"errors"
	"fmt"
	"strings"
)

// Confirm asks a question. It reports true only for "y" and "yes".
func (a *App) Confirm(question string) bool { return a.ConfirmOr(question, "no") == nil }

// ConfirmOr asks a question for a command that has --yes. Unless the answer is yes, it returns
// refusal as an error. If nobody answered because the input had ended, the error has advice.
func (a *App) ConfirmOr(question, refusal string) error {
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	line, err := a.In.ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	case "":
		if err != nil {
			fmt.Fprintln(a.Stderr)
			return AdvisedError{Err: errors.New(refusal), Advice: "Nobody answered. To go ahead without being asked, add --yes."}
		}
	}
	return errors.New(refusal)
}
