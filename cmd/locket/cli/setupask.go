package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/locket-dev/locket/node/config"
)

// AnswerFault is what is wrong with an answer to a question for a setting, without the flag,
// which nobody has given.
func AnswerFault(key string, wrong error) error {
	return errors.New(strings.TrimPrefix(wrong.Error(), fmt.Sprintf("%v: --%s: %[2]s: ", config.ErrConfig, key)))
}

// ErrEnded: the person ended the questions.
var ErrEnded = errors.New("setup was ended")

// Talks reports whether somebody is there to answer.
func (a *App) Talks() bool {
	if a.Json {
		return false
	}
	if a.Terminal != nil {
		return a.Terminal()
	}
	f, ok := a.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
