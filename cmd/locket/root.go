package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locket-dev/locket/cmd/internal/manual"
	"github.com/locket-dev/locket/cmd/internal/suggest"
	"github.com/locket-dev/locket/node/config"
)

// group is a heading of locket --help with its commands.
type group struct {
	title    string
	commands []*cobra.Command
}

func (a *app) groups() []group {
	return []group{
		{"Begin", []*cobra.Command{a.setupCommand(), a.initCommand(), a.runCommand(), a.openCommand(), a.statusCommand(), a.doctorCommand(), a.configCommand(),
			a.demoCommand(), a.replayCommand()}},
		{"Remember and find", []*cobra.Command{a.addCommand(), a.batchCommand(), a.searchCommand(), a.askCommand(), a.chatCommand(), a.contextCommand(), a.coreCommand(),
			a.listCommand(), a.getCommand(), a.dayCommand(), a.talkCommand(), a.mediaCommand(), a.categoriesCommand(), a.graphCommand()}},
		{"See where it comes from", []*cobra.Command{a.whyCommand(), a.historyCommand(), a.traceCommand(), a.refusalsCommand()}},
		{"Correct and forget", []*cobra.Command{a.updateCommand(), a.undoCommand(), a.pinCommand(true), a.pinCommand(false), a.entitiesCommand(), a.dreamCommand(),
			a.deleteCommand(), a.forgetCommand(), a.retentionCommand()}},
		{"Keep it private", []*cobra.Command{a.pauseCommand(), a.resumeCommand(), a.zonesCommand(), a.vaultCommand(), a.lockCommand(), a.unlockCommand(),
			a.passphraseCommand(), a.keysCommand()}},
		{"Wearables that send events", []*cobra.Command{a.wearableCommand()}},
		{"Your other devices", []*cobra.Command{a.pairCommand(), a.devicesCommand(), a.recoverCommand(), a.syncCommand(), a.relayCommand(),
			a.conflictsCommand(), a.tiersCommand(), a.fetchCommand(), a.rotateCommand()}},
		{"Assistants, readers and workers", []*cobra.Command{a.shareCommand(), a.communityCommand(), a.matchCommand(), a.marketCommand(), a.policyCommand(), a.consentCommand(), a.appCommand(), a.mcpCommand(), a.grantCommand(), a.revertCommand()}},
		{"Engines, plugins and language models", []*cobra.Command{a.engineCommand(), a.voiceCommand(), a.pluginCommand(), a.llmCommand(), a.instructionsCommand()}},
		{"Take it with you", []*cobra.Command{a.backupCommand(), a.exportCommand(), a.importCommand(), a.notesCommand()}},
	}
}

// otherWords are what people type who know another program. One of two words is what a
// command does that has no other under it for that.
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

// otherWays say how to do what no command does.
var otherWays = map[string]string{
	"upgrade": "Whether there is a newer version: locket update --check. How to take it: " + docsAt + "install.md", "uninstall": "What installed the program removes it. Your home stays: " + docsAt + "install.md#removing",
	"docs": thePages, "manual": thePages,
	"tail": theNewest, "watch": theNewest, "logs": theNewest, "events": theNewest,
}

const (
	theNewest = "The newest memories: locket list. What was said last: locket talk. The daemon's log, as a service: journalctl --user -u locket"
	thePages  = "The commands: locket --help; one of them: locket COMMAND --help. The pages: https://github.com/locket-dev/locket#documents"
)

// otherWordsBelow are the same for commands under others.
var otherWordsBelow = map[string][]string{
	"list": {"ls", "all"}, "status": {"ls", "list", "show"}, "remove": {"rm", "delete", "del"}, "revoke": {"rm", "remove", "delete", "del"}, "forget": {"rm", "remove", "delete", "del"},
	"add": {"new", "create"}, "create": {"new", "add"}, "new": {"create", "add"}, "show": {"get", "cat", "view", "reveal"}, "log": {"logs", "history"}, "check": {"verify", "test"},
}

// knowOtherWords has the commands under c know otherWordsBelow.
func knowOtherWords(c *cobra.Command) {
	for _, sub := range c.Commands() {
		sub.SuggestFor = append(sub.SuggestFor, otherWordsBelow[sub.Name()]...)
		knowOtherWords(sub)
	}
}

// root is the command with everything under it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "locket",
		Short: "A memory that belongs to its wearer",
		Long: `Locket keeps what a pair of glasses or a pin hears and sees. It makes typed memories
of it, encrypts them on this machine, and answers from them with the network off.

A command asks the daemon (locket run) where one runs on the home. Where none runs,
the command opens the home itself.

Pages that are named docs/NAME.md are at https://github.com/locket-dev/locket/tree/main/docs`,
		Example: `  locket setup
  locket run
  locket search "when is the dentist"
  locket why --last`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          nothing(),
	}
	// A flag of our own, and not cobra's Version with a template: text/template
	// calls methods by name, so the linker then keeps every method there is.
	showVersion := root.Flags().BoolP("version", "v", false, "print release, commit and build")
	root.RunE = func(c *cobra.Command, args []string) error {
		if *showVersion {
			return a.versionCommand().RunE(c, args)
		}
		return a.needsCommand(c, args)
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		// The command is unknown, too, and was typed first. A command that takes arguments says
		// so in its Use.
		if args := c.Flags().Args(); len(args) > 0 && c.HasAvailableSubCommands() && !strings.Contains(c.Use, " ") {
			return unknown(c, args[0])
		}
		if n, ok := errors.AsType[*strconv.NumError](err); ok { // which tells the name of a function
			err = errors.New(strings.Replace(err.Error(), n.Error(), "want a number", 1))
		}
		guesses := suggest.Flags(c, err)
		if _, no := errors.AsType[*pflag.NotExistError](err); no && len(guesses) == 0 && strings.Contains(c.Use, "...") {
			return usageError{advisedError{err, "Words that begin with - stand after --: " + c.CommandPath() + " -- WORDS"}}
		}
		return usageError{meant(err, guesses)}
	})
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON: one object, or one a line")
	f.StringVar(&a.file, "config", "", "configuration `file`")
	f.Var(a.setting("home", "--home"), "home", "the node's `folder`")
	f.Var(&setFlag{a}, "set", "any setting, as `key=value`; see locket config")
	for _, g := range a.groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID, c.SuggestFor = g.title, otherWords[c.Name()]
			knowOtherWords(c)
			root.AddCommand(c)
		}
	}
	root.AddCommand(a.versionCommand())
	root.AddCommand(manual.Commands()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.RunE = a.needsCommand
			c.Long += "\nWhile the daemon runs unlocked, completing shows names, and the first words of your newest memories.\n"
		case "help":
			c.Run, c.RunE = nil, a.help
		}
	}
	return root
}

// help is locket help COMMAND.
func (a *app) help(c *cobra.Command, args []string) error {
	of, rest, err := c.Root().Find(args)
	if err != nil {
		return usageError{err}
	}
	if len(rest) > 0 {
		return unknown(of, rest[0])
	}
	of.InitDefaultHelpFlag()
	return of.Help()
}

// needsCommand is what a command does that only has others under it.
func (a *app) needsCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknown(c, args[0])
	}
	c.SetOut(a.stderr)
	if err := c.Help(); err != nil {
		return err
	}
	return usageError{errTold}
}

// unknown is the answer to a command that c does not have.
func unknown(c *cobra.Command, name string) error {
	of := ""
	if c.HasParent() {
		of = " of " + c.CommandPath()
	}
	err := fmt.Errorf("%q is not a command%s", name, of)
	if way := otherWays[strings.ToLower(name)]; way != "" && !c.HasParent() {
		return usageError{advisedError{err, way}}
	}
	return usageError{meant(err, suggest.Commands(c, name))}
}

// meant adds to err what was probably meant.
func meant(err error, guesses []string) error {
	if len(guesses) == 0 {
		return err
	}
	return advisedError{err, suggest.Sentence(guesses)}
}

// setting is a flag that sets a configuration key.
func (a *app) setting(key, name string) *settingFlag { return &settingFlag{a, key, name, ""} }

type settingFlag struct {
	app             *app
	key, name, text string
}

func (f *settingFlag) String() string { return f.text }
func (f *settingFlag) Type() string   { return "string" }
func (f *settingFlag) Set(s string) error {
	f.text = s
	f.app.flags = append(f.app.flags, config.Flag{Name: f.name, Key: f.key, Value: s})
	return nil
}

// setName is the flag that sets any setting.
const setName = "--set"

// setFlag is --set key=value.
type setFlag struct{ app *app }

func (f *setFlag) String() string { return "" }
func (f *setFlag) Type() string   { return "key=value" }
func (f *setFlag) Set(s string) error {
	key, value, ok := cutSetting(s)
	if !ok {
		return fmt.Errorf("want key=value")
	}
	f.app.flags = append(f.app.flags, config.Flag{Name: setName, Key: key, Value: value})
	return nil
}

// between has a command take from low to high arguments; high -1: any number.
func between(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usagef("%s is missing", what)
		case high == 0 && len(args) > 0 && c.HasAvailableSubCommands():
			return unknown(c, args[0])
		case high >= 0 && len(args) > high:
			return usagef("%q is one argument too many", args[high])
		case slices.Contains(args, "") && what != "":
			return usagef("%s is empty", what)
		case slices.Contains(args, ""):
			return usagef("an argument is empty")
		}
		return nil
	}
}

// limitFlag is --limit with -n, and -k, which is what others call it.
func limitFlag(f *pflag.FlagSet, to *int, value int, usage string) {
	f.IntVarP(to, "limit", "n", value, usage)
	f.IntVarP(to, "k", "k", value, usage)
	f.Lookup("k").Hidden = true
}

func nothing() cobra.PositionalArgs { return between(0, 0, "") }
