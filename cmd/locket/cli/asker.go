package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/locket-dev/locket/node/config"
)

// ErrEnded is returned when the person ended the questions.
var ErrEnded = errors.New("setup was ended")

// Asker asks a person who may end it at any time.
type Asker struct {
	App           *App
	Ctx           context.Context
	IsInteractive bool // somebody is there to answer
}

func (s *Asker) Tell(format string, args ...any) {
	if !s.App.JSON {
		fmt.Fprintf(s.App.Stderr, format, args...)
	}
}

// Ask returns the answer to a question, or usual if the answer is empty. At the end of the input,
// and on an interrupt, it returns ErrEnded.
func (s *Asker) Ask(question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	s.Tell("%s: ", question)
	line := ""
	err := s.Wait(func() (err error) {
		line, err = s.App.In.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = ErrEnded
		}
		return err
	})
	if err != nil {
		return "", err
	}
	if line = strings.TrimSpace(line); line == "" {
		return usual, nil
	}
	return line, nil
}

// Yes asks a question until the answer is y or n. An empty answer means no.
func (s *Asker) Yes(question string) (bool, error) {
	for {
		v, err := s.Ask(question+" y or n", "n")
		switch strings.ToLower(v) {
		case "y", "yes":
			return err == nil, err
		case "", "n", "no":
			return false, err
		}
		s.Tell("%q: want y or n\n", OneLine(v))
	}
}

// Wait calls a function that asks a person. On an interrupt it returns ErrEnded.
func (s *Asker) Wait(ask func() error) error {
	if err := ask(); s.Ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return ErrEnded
}

// IsInteractive reports whether somebody is there to answer.
func (a *App) IsInteractive() bool {
	if a.JSON {
		return false
	}
	if a.Terminal != nil {
		return a.Terminal()
	}
	f, ok := a.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// AnswerFault says what is wrong with the answer to a question for a setting. It leaves out the
// name of the flag, which nobody has typed.
func AnswerFault(key string, wrong error) error {
	return errors.New(strings.TrimPrefix(wrong.Error(), fmt.Sprintf("%v: --%s: %[2]s: ", config.ErrConfig, key)))
}
