package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/locket-dev/locket/node/config"
)

// aCommand finds commands of this program in a text for a person.
var aCommand = regexp.MustCompile(`(?:^|[\s('])locket [a-z]`)

// WithHome makes the commands in a text ready to be typed: it adds --home to each if the command line
// has it. It repeats nothing else of the command line, which may contain a secret.
func (a *App) WithHome(text string) string {
	return onHome(text, a.homeFlag())
}

// WithHomef is [App.WithHome] for a format. It leaves the values unchanged.
func (a *App) WithHomef(format string, values ...any) string {
	return fmt.Sprintf(onHome(format, strings.ReplaceAll(a.homeFlag(), "%", "%%")), values...)
}

// onHome inserts a flag into each command of a text.
func onHome(text, flag string) string {
	return aCommand.ReplaceAllStringFunc(text, func(s string) string { return s[:len(s)-1] + flag + s[len(s)-1:] })
}

// homeFlag returns "--home DIR ", or an empty string if the command line has no --home.
func (a *App) homeFlag() string {
	l, err := a.Load()
	if err != nil || l.Origin("home").Kind != config.FromFlag {
		return ""
	}
	return "--home " + ShellWord(l.Home) + " "
}

// ShellWord returns a word as a shell reads it, quoted if necessary.
func ShellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 0x80 || strings.ContainsRune("_-./:@%+=,", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
