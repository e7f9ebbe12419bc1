package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/node/config"
)

// otherWays say how to do things for which there is no command.
var otherWays = map[string]string{
	"upgrade": "To check for a newer version: locket update --check. To install it: " + DocsAt + "install.md", "uninstall": "Uninstall Locket the way you installed it. Your home stays: " + DocsAt + "install.md#removing",
	"docs": thePages, "manual": thePages,
	"tail": theNewest, "watch": theNewest, "logs": theNewest, "events": theNewest,
}

const (
	theNewest = "The newest memories: locket list. What was said last: locket talk. The daemon's log, as a service: journalctl --user -u locket"
	thePages  = "All commands: locket --help. One command: locket COMMAND --help. The documents: https://github.com/locket-dev/locket#documents"
)

// NeedsCommand is the Run function of a command that only has subcommands.
func (a *App) NeedsCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return UnknownCommand(c, args[0])
	}
	c.SetOut(a.Stderr)
	if err := c.Help(); err != nil {
		return err
	}
	return UsageError{ErrReported}
}

// UnknownCommand returns the error for a command that c does not have.
func UnknownCommand(c *cobra.Command, name string) error {
	of := ""
	if c.HasParent() {
		of = " of " + c.CommandPath()
	}
	err := fmt.Errorf("%q is not a command%s", name, of)
	if way := otherWays[strings.ToLower(name)]; way != "" && !c.HasParent() {
		return UsageError{AdvisedError{err, way}}
	}
	return UsageError{WithGuesses(err, suggest.Commands(c, name))}
}

// WithGuesses adds guesses of what was meant to err.
func WithGuesses(err error, guesses []string) error {
	if len(guesses) == 0 {
		return err
	}
	return AdvisedError{err, suggest.Sentence(guesses)}
}

// Setting is a flag that sets a configuration key.
func (a *App) Setting(key, name string) *settingFlag { return &settingFlag{a, key, name, ""} }

type settingFlag struct {
	app             *App
	key, name, text string
}

func (f *settingFlag) String() string { return f.text }
func (f *settingFlag) Type() string   { return "string" }
func (f *settingFlag) Set(s string) error {
	f.text = s
	f.app.Flags = append(f.app.Flags, config.Flag{Name: f.name, Key: f.key, Value: s})
	return nil
}

// SetName is the flag that sets any setting.
const SetName = "--set"

// ArgsBetween makes a command accept from low to high arguments. If high is -1, there is no limit.
func ArgsBetween(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return Usagef("%s is missing", what)
		case high == 0 && len(args) > 0 && c.HasAvailableSubCommands():
			return UnknownCommand(c, args[0])
		case high >= 0 && len(args) > high:
			return Usagef("%q is one argument too many", args[high])
		case slices.Contains(args, "") && what != "":
			return Usagef("%s is empty", what)
		case slices.Contains(args, ""):
			return Usagef("an argument is empty")
		}
		return nil
	}
}

// LimitFlag adds --limit with -n, and with -k, the name that other programs use.
func LimitFlag(f *pflag.FlagSet, to *int, value int, usage string) {
	f.IntVarP(to, "limit", "n", value, usage)
	f.IntVarP(to, "k", "k", value, usage)
	f.Lookup("k").Hidden = true
}

func NoArgs() cobra.PositionalArgs { return ArgsBetween(0, 0, "") }

// CutSetting splits key=value. ok is false if there is no key.
func CutSetting(s string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(s, "=")
	return key, value, ok && key != ""
}

// RefuseEmptyFlags refuses an empty value for a flag that selects memories or rights. A script whose
// variable is not set passes such a value, and the flag would then restrict nothing. RefuseEmptyFlags is a
// PreRunE of cobra.
func RefuseEmptyFlags(cmd *cobra.Command, _ []string) (err error) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		switch f.Name {
		case "title", "description", "name", "licence", "terms", "market", "hook": // these select nothing
			return
		}
		if text := f.Value.String(); f.Changed && (text == "" || text == "[]") {
			err = Usagef("--%s: empty", f.Name)
		}
	})
	return err
}
