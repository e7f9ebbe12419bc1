package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/locket-dev/locket/node/config"
)

// aCommand finds the commands of this program in a text for a person.
var aCommand = regexp.MustCompile(`(?:^|[\s('])locket [a-z]`)

// Here is a text whose commands a person can type as they stand: on this home, where the command
// line names it. Nothing else of the command line is repeated, because it may hold a secret.
func (a *App) Here(text string) string {
	return onHome(text, a.homeFlag())
}

// Heref is [App.Here] for a format. The values are left as they are.
func (a *App) Heref(format string, values ...any) string {
	return fmt.Sprintf(onHome(format, strings.ReplaceAll(a.homeFlag(), "%", "%%")), values...)
}

// onHome puts a flag into each command of a text.
func onHome(text, flag string) string {
	return aCommand.ReplaceAllStringFunc(text, func(s string) string { return s[:len(s)-1] + flag + s[len(s)-1:] })
}

// homeFlag is "--home DIR ", or empty where the command line has none.
func (a *App) homeFlag() string {
	l, err := a.Load()
	if err != nil || l.Origin("home").Kind != config.FromFlag {
		return ""
	}
	return "--home " + shellWord(l.Home) + " "
}

// shellWord is a word as a shell takes it, quoted where it has to be.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 0x80 || strings.ContainsRune("_-./:@%+=,", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
