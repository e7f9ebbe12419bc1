package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/internal/manual"
	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/cmd/locket/appcmd"
	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/copycmd"
	"github.com/locket-dev/locket/cmd/locket/devicecmd"
	"github.com/locket-dev/locket/cmd/locket/enginecmd"
	"github.com/locket-dev/locket/cmd/locket/homecmd"
	"github.com/locket-dev/locket/cmd/locket/marketcmd"
	"github.com/locket-dev/locket/cmd/locket/memorycmd"
	"github.com/locket-dev/locket/cmd/locket/plugincmd"
	"github.com/locket-dev/locket/cmd/locket/recallcmd"
	"github.com/locket-dev/locket/cmd/locket/runcmd"
	"github.com/locket-dev/locket/cmd/locket/setupcmd"
	"github.com/locket-dev/locket/cmd/locket/sharecmd"
	"github.com/locket-dev/locket/node/config"
)

// group is a heading of locket --help with its commands.
type group struct {
	title    string
	commands []*cobra.Command
}

func groups(a *cli.App) []group {
	setUp := func(ctx context.Context) error { return setupcmd.SetUp(a, ctx) }
	return []group{
		{"Get started", []*cobra.Command{setupcmd.Command(a), homecmd.InitCommand(a), runcmd.RunCommand(a, setUp), runcmd.OpenCommand(a), homecmd.StatusCommand(a), homecmd.DoctorCommand(a), homecmd.ConfigCommand(a),
			runcmd.DemoCommand(a), runcmd.ReplayCommand(a)}},
		{"Remember and find", []*cobra.Command{memorycmd.AddCommand(a), memorycmd.BatchCommand(a), recallcmd.SearchCommand(a), recallcmd.AskCommand(a), recallcmd.ChatCommand(a), recallcmd.ContextCommand(a), recallcmd.CoreCommand(a),
			memorycmd.ListCommand(a), memorycmd.GetCommand(a), recallcmd.DayCommand(a), recallcmd.TalkCommand(a), recallcmd.MediaCommand(a), memorycmd.CategoriesCommand(a), recallcmd.GraphCommand(a)}},
		{"See where memories come from", []*cobra.Command{memorycmd.WhyCommand(a), memorycmd.HistoryCommand(a), recallcmd.TraceCommand(a), memorycmd.RefusalsCommand(a)}},
		{"Correct and forget", []*cobra.Command{memorycmd.UpdateCommand(a), memorycmd.UndoCommand(a), memorycmd.PinCommand(a, true), memorycmd.PinCommand(a, false), recallcmd.EntitiesCommand(a), memorycmd.DreamCommand(a),
			memorycmd.DeleteCommand(a), memorycmd.ForgetCommand(a), memorycmd.RetentionCommand(a)}},
		{"Keep it private", []*cobra.Command{homecmd.PauseCommand(a), homecmd.ResumeCommand(a), devicecmd.ZonesCommand(a), memorycmd.VaultCommand(a), homecmd.LockCommand(a), homecmd.UnlockCommand(a),
			homecmd.PassphraseCommand(a), homecmd.KeysCommand(a)}},
		{"Wearables", []*cobra.Command{devicecmd.WearableCommand(a)}},
		{"Your other devices", []*cobra.Command{devicecmd.PairCommand(a), devicecmd.DevicesCommand(a), devicecmd.RecoverCommand(a), devicecmd.SyncCommand(a), devicecmd.RelayCommand(a),
			memorycmd.ConflictsCommand(a), recallcmd.TiersCommand(a), devicecmd.FetchCommand(a), devicecmd.RotateCommand(a)}},
		{"Assistants, readers and workers", []*cobra.Command{sharecmd.ShareCommand(a), sharecmd.CommunityCommand(a), sharecmd.MatchCommand(a), marketcmd.Command(a), sharecmd.PolicyCommand(a), sharecmd.ConsentCommand(a), appcmd.AppCommand(a), appcmd.MCPCommand(a), devicecmd.GrantCommand(a), memorycmd.RevertCommand(a)}},
		{"Engines, plugins and language models", []*cobra.Command{enginecmd.EngineCommand(a), enginecmd.VoiceCommand(a), plugincmd.Command(a), enginecmd.LLMCommand(a), enginecmd.InstructionsCommand(a)}},
		{"Back up, export and import", []*cobra.Command{copycmd.BackupCommand(a), copycmd.ExportCommand(a), copycmd.ImportCommand(a), copycmd.NotesCommand(a)}},
	}
}

// otherWords are words that people who know another program may type for a command. Two words, such
// as "keys list", stand for a subcommand that does not exist because the command itself does that.
var otherWords = map[string][]string{
	"list": {"ls", "memories", "memory", "get-all", "all"}, "delete": {"rm", "remove", "erase", "del", "delete-all"}, "get": {"show", "cat"},
	"search": {"find", "query", "recall", "grep", "lookup"}, "ask": {"who", "when", "where", "what", "how", "question"},
	"add":    {"remember", "new", "create", "note", "tell", "say", "write", "memo", "remind", "reminder", "todo", "commit", "add-memory", "store"},
	"run":    {"start", "serve", "daemon", "up", "restart"},
	"config": {"settings", "set"}, "update": {"edit", "correct"}, "export": {"dump"}, "import": {"load", "ingest"}, "notes": {"obsidian", "markdown"},
	"backup": {"save", "restore"}, "pair": {"join", "invite", "clone"}, "doctor": {"check", "repair", "verify", "fsck", "reindex", "rebuild"}, "why": {"evidence", "source", "sources", "proof", "explain", "blame"}, "history": {"log"},
	"setup": {"install", "wizard", "service", "autostart"}, "init": {"new"}, "devices": {"members"}, "conflicts": {"diff", "merge"}, "sync": {"push", "pull"},
	"grant": {"worker", "workers"}, "share": {"publish"}, "plugin": {"extension", "extensions"}, "vault": {"secrets", "passwords"},
	"app": {"apps", "client", "token", "apikey", "login", "users"}, "status": {"health", "stats", "usage", "size", "disk", "info", "ps", "whoami"}, "open": {"dashboard", "gui", "url", "console", "web", "ui", "browser"},
	"llm": {"model"}, "engine": {"whisper", "speech", "stt", "ollama", "engines", "ears", "eyes", "mind", "transcribe", "ocr"}, "chat": {"repl", "converse"},
	"day": {"summary", "digest", "yesterday", "week", "today", "diary", "timeline", "calendar", "journal", "agenda"}, "talk": {"lines", "transcript", "sessions"},
	"pause": {"incognito", "private", "stop", "mute", "off", "shutdown", "quit", "exit", "kill"}, "lock": {"logout"}, "passphrase": {"passwd", "password"},
	"undo": {"reset", "rollback", "checkout"}, "graph": {"people", "names", "places", "person", "place", "entity"}, "entities": {"alias", "merge"},
	"categories": {"tag", "tags"}, "media": {"photo", "photos", "recording", "recordings", "audio"}, "wearable": {"phone", "omi", "broker", "mqtt", "qr", "glasses", "pendant"}, "replay": {"play", "upload"},
	"forget": {"wipe", "purge", "clear", "clean", "destroy"}, "core": {"facts", "fact", "profile", "me"}, "mcp": {"claude", "cursor", "chatgpt", "openai"}, "voice": {"speaker", "speakers"},
	"dream": {"dedupe", "duplicates"}, "recover": {"phrase", "words", "mnemonic"}, "market": {"sell", "shop"},
	"keys": {"keys list", "keys ls", "keys show", "keys status"},
}

// otherWordsBelow are the same for subcommands.
var otherWordsBelow = map[string][]string{
	"list": {"ls", "all"}, "status": {"ls", "list", "show"}, "remove": {"rm", "delete", "del"}, "revoke": {"rm", "remove", "delete", "del"}, "forget": {"rm", "remove", "delete", "del"},
	"add": {"new", "create"}, "create": {"new", "add"}, "new": {"create", "add"}, "show": {"get", "cat", "view", "reveal"}, "log": {"logs", "history"}, "check": {"verify", "test"},
}

// knowOtherWords adds otherWordsBelow to the commands under c.
func knowOtherWords(c *cobra.Command) {
	for _, sub := range c.Commands() {
		sub.SuggestFor = append(sub.SuggestFor, otherWordsBelow[sub.Name()]...)
		knowOtherWords(sub)
	}
}

// root returns the command with all its subcommands.
func root(a *cli.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "locket",
		Short: "A memory that belongs to its wearer",
		Long: `Locket remembers what your glasses or pin hear and see. It turns that into typed
memories, encrypts them on this machine, and answers questions with the network off.

Commands talk to the daemon (locket run) if one is running on the home. Otherwise they
open the home themselves.

The pages named docs/NAME.md are at https://github.com/locket-dev/locket/tree/main/docs`,
		Example: `  locket setup
  locket run
  locket search "when is the dentist"
  locket why --last`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cli.NoArgs(),
	}
	// A flag of our own, and not cobra's Version with a template: text/template
	// calls methods by name, so the linker then keeps every method there is.
	showVersion := root.Flags().BoolP("version", "v", false, "print release, commit and build")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			return versionCommand(a).RunE(c, args)
		}
		return a.NeedsCommand(c, args)
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// The command does not exist either, and was typed first. A command that takes arguments
		// says so in its Use.
		if args := c.Flags().Args(); len(args) > 0 && c.HasAvailableSubCommands() && !strings.Contains(c.Use, " ") {
			return cli.UnknownCommand(c, args[0])
		}
		if n, ok := errors.AsType[*strconv.NumError](err); ok { // its text contains the name of a function
			err = errors.New(strings.Replace(err.Error(), n.Error(), "want a number", 1))
		}
		guesses := suggest.Flags(c, err)
		if _, no := errors.AsType[*pflag.NotExistError](err); no && len(guesses) == 0 && strings.Contains(c.Use, "...") {
			return cli.UsageError{Err: cli.AdvisedError{Err: err, Advice: "Put words that begin with - after --: " + c.CommandPath() + " -- WORDS"}}
		}
		return cli.UsageError{Err: cli.WithGuesses(err, guesses)}
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.JSON, "json", false, "print JSON: one object, or one per line")
	f.StringVar(&a.File, "config", "", "configuration `file`")
	f.Var(a.Setting("home", "--home"), "home", "the node's `folder`")
	f.Var(&setFlag{a}, "set", "any setting, as `key=value`; see locket config")
	for _, g := range groups(a) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID, c.SuggestFor = g.title, otherWords[c.Name()]
			knowOtherWords(c)
			root.AddCommand(c)
		}
	}
	root.AddCommand(versionCommand(a))
	root.AddCommand(manual.Commands()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE, c.Args = a.NeedsCommand, nil
			c.Long += "\nWhile the daemon is running and unlocked, completion shows names, and the first words of your newest memories.\n"
		case "help":
			c.Run, c.RunE = nil, func(a0 *cobra.Command, a1 []string) error { return help(a, a0, a1) }
		}
	}
	return root
}

// help is locket help COMMAND.
func help(a *cli.App, c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	if len(rest) > 0 {
		return cli.UnknownCommand(of, rest[0])
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}

// setFlag is --set key=value.
type setFlag struct{ app *cli.App }

func (f *setFlag) String() string { return "" }
func (f *setFlag) Type() string   { return "key=value" }
func (f *setFlag) Set(s string) error {
	key, value, ok := cli.CutSetting(s)
	if !ok {
		return fmt.Errorf("want key=value")
	}
	f.app.Flags = append(f.app.Flags, config.Flag{Name: cli.SetName, Key: key, Value: value})
	return nil
}
