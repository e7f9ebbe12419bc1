package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Confirm asks a question. It reports true only for "y" and "yes".
func (a *App) Confirm(question string) bool { return a.ConfirmOr(question, "no") == nil }

// ConfirmOr asks a question for a command that has --yes. Unless the answer is yes, it returns
// refusal as an error. If nobody answered because the input had ended, the error has advice. On an
// interrupt, the error says both.
func (a *App) ConfirmOr(question, refusal string) error {
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	line, err := a.In.ReadString('\n')
	if errors.Is(err, context.Canceled) { // whatever was typed before
		fmt.Fprintln(a.Stderr)
		return InterruptedError{err, strings.ToUpper(refusal[:1]) + refusal[1:] + "."}
	}
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
