package devicecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/pairing"
	relays "github.com/locket-dev/locket/sync/remote"
)

// homeOptions are the flags of a command that makes a home.
type homeOptions struct {
	cli.InitOptions
	passphraseFile string
	relay          string
}

func (o *homeOptions) flags(a *cli.App, c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.relay, "relay", "", "`URL` of the relay")
	f.StringVar(&o.passphraseFile, "passphrase-file", "", "read the new home's passphrase from a `file`, now and at each start")
	f.BoolVar(&o.KeyFile, "key-file", false, "keep a key file in the new home")
	f.BoolVar(&o.Keyring, "keyring", false, "keep a key in the OS keyring for the new home")
	f.Var(a.Setting("wearer", "--wearer"), "wearer", "`name` of the person whose memory it is")
	f.Var(a.Setting("zone", "--zone"), "zone", "the wearer's `zone`, such as Europe/Berlin")
}

// secret asks for the new home's passphrase if nothing else opens it.
func secret(a *cli.App, o *homeOptions) (err error) {
	if o.passphraseFile != "" || !o.KeyFile && !o.Keyring {
		o.Passphrase, err = a.NewPassphrase(o.passphraseFile)
	}
	return err
}

// joinedHome is what pair --join and recover print with --json.
type joinedHome struct {
	Home   string `json:"home"`
	Config string `json:"config"`
	Space  string `json:"space"`
	Relay  string `json:"relay"`
}

// writeJoinedSettings writes the settings of a home that was made by joining.
func writeJoinedSettings(a *cli.App, l *config.Loaded, o *homeOptions, j cli.Joined) error {
	keep, sync := map[string]any{}, map[string]any{}
	keep["sync"] = sync
	a.KeepSet(keep, l)
	if j.Relay != "" {
		sync["relay"] = j.Relay
	} else { // a device in the same network let it in
		sync["lan"] = true
	}
	named := ""
	switch {
	case j.Wearer != "" && l.Origin("wearer").Kind != config.FromFlag:
		keep["wearer"] = j.Wearer
	case l.Origin("wearer").Kind != config.FromDefault:
		keep["wearer"] = l.Wearer
	default:
		named = fmt.Sprintf("\nThis home does not know your name, which tells it who \"I\" is. Write wearer = \"NAME\" at the top of %s before you start the daemon.", filepath.Join(l.Home, config.FileName))
	}
	if l.Origin("zone").Kind == config.FromFlag {
		keep["zone"] = l.Zone
	}
	switch {
	case o.passphraseFile != "":
		abs, err := filepath.Abs(o.passphraseFile)
		if err != nil {
			return err
		}
		keep["unlock"] = map[string]any{"passphrase_file": abs}
	case o.Keyring:
		keep["unlock"] = map[string]any{"keyring": true}
	}
	path := filepath.Join(l.Home, config.FileName)
	if _, err := a.AddSettings(path, path, keep); err != nil {
		return err
	}
	return a.Print(joinedHome{l.Home, path, j.Space, j.Relay}, func(w io.Writer) {
		fmt.Fprint(w, a.WithHomef("The node's home is %s, its settings are in %s.\nThe memories come with the first sync: locket sync --now, or locket run.\n%s%s\n",
			l.Home, path, cli.VaultNote, named))
	})
}

func PairCommand(a *cli.App) *cobra.Command {
	var code string
	var o homeOptions
	c := &cobra.Command{
		Use: "pair", Short: "Add another device of yours, or join as one", Args: cli.NoArgs(),
		Long: `On a device that has a home, shows a code (also as a QR code), waits for the new device,
and then shows five words. Answer yes only if the new device shows the same five words.

On the new device, locket pair --join CODE makes a home. CODE is either the eight letters,
together with --relay, or the whole link from the QR code. If the first device has no
relay and sync.lan is on, both devices must be in the same network.`,
		Example: `  locket pair
  locket pair --join k7qf-2mxp --relay https://relay.example:8443
  locket pair --join 'locket:pair?code=k7qf-2mxp&relay=https%3A%2F%2Frelay.example%3A8443'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code == "" {
				return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return invite(a, cmd.Context(), c) })
			}
			return join(a, cmd.Context(), &o, code)
		},
	}
	c.Flags().StringVar(&code, "join", "", "make a home on this new device, with the `code` that the other device shows")
	o.flags(a, c)
	return c
}

// invite shows what the new device needs, and asks whether the words are the same.
func invite(a *cli.App, ctx context.Context, c *serve.Client) error {
	p, err := c.PairInvite(ctx)
	if err != nil {
		return err
	}
	err = a.Print(p, func(w io.Writer) {
		picture, whole := a.QR(a.Stdout, p.Link)
		if !whole { // the output goes to a file or to another program
			picture += "link: " + p.Link + "\n"
		}
		fmt.Fprintln(w, picture)
		relay, _, _ := pairing.ParseLink(p.Link)
		fmt.Fprintf(w, "On the new device, run this within ten minutes:\n\n  locket pair --join %s --relay %s\n\n", p.Code, relay)
		fmt.Fprint(w, a.WithHome(cli.OnlyHere(relay, "For a new device elsewhere, let the relay listen at an address of your network, and move there first: locket relay move URL")))
	})
	if err != nil {
		return err
	}
	code := p.Code
	if p, err = c.PairWait(ctx); err != nil {
		return err
	}
	if p.State != serve.PairCompare {
		return fmt.Errorf("pairing: %s", p.Error)
	}
	if err := a.Print(p, func(w io.Writer) { showWords(w, p.Words, p.Name) }); err != nil {
		return err
	}
	said := serve.ConfirmRequest{Same: a.Confirm("Does the other device show the same five words?"), Code: code}
	// The other device is told even if the person interrupts the question.
	if p, err = c.PairConfirm(context.WithoutCancel(ctx), said); err != nil {
		return err
	}
	if p.State != serve.PairDone {
		return fmt.Errorf("pairing: %s", p.Error)
	}
	return a.Print(p, func(w io.Writer) { fmt.Fprintln(w, "The device was added.") })
}

// showWords shows the words that a person compares. The name comes from the other end, which may be
// somebody in between. So it is cleaned: it can neither control the terminal, and so show other
// words, nor start a line of its own.
func showWords(w io.Writer, words []string, name string) {
	if name = strings.Join(strings.Fields(cli.OneLine(name)), " "); name != "" {
		fmt.Fprintf(w, "The other device calls itself %q.\n", name)
	}
	fmt.Fprintf(w, "\n  %s\n\n", strings.Join(words, "  "))
}

func join(a *cli.App, ctx context.Context, o *homeOptions, text string) error {
	l, err := a.Load()
	if err != nil {
		return err
	}
	relay, code, err := pairing.ParseLink(text)
	if err != nil {
		return cli.UsageError{Err: err}
	}
	relay = cmp.Or(relay, o.relay, l.Sync.Relay)
	if relay == "" {
		return cli.Usagef("a code needs --relay: the other device shows which relay")
	}
	if err := secret(a, o); err != nil {
		return err
	}
	fmt.Fprintf(a.Stderr, "Waiting up to ten minutes for the device that shows %s.\n", code)
	j, err := a.JoinHome(ctx, l.Config, o.InitOptions, relay, code, func(words []string, name string) bool {
		err := a.Print(serve.Pairing{State: serve.PairCompare, Code: code.String(), Link: pairing.Link(relay, code), Words: words, Name: name},
			func(w io.Writer) { showWords(w, words, name) })
		return err == nil && a.Confirm("Does the other device show the same five words?")
	})
	if err != nil {
		return err
	}
	return writeJoinedSettings(a, l, o, j)
}

func RecoverCommand(a *cli.App) *cobra.Command {
	var o homeOptions
	c := &cobra.Command{
		Use: "recover", Short: "Recover a home from the 24 words after every device was lost", Args: cli.NoArgs(),
		Long: `Reads the 24 words, on a terminal or from standard input, and makes a home. After its
first sync it has everything that had been synced. That includes secrets in the vault
only if they were synced.`,
		Example: "  locket recover --relay https://relay.example:8443",
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.Load()
			if err != nil {
				return err
			}
			o.relay = cmp.Or(o.relay, l.Sync.Relay)
			if o.relay == "" {
				return cli.Usagef("--relay URL is missing: the relay through which the devices synced")
			}
			if err := secret(a, &o); err != nil {
				return err
			}
			words, err := a.AskWords("")
			if err != nil {
				return err
			}
			j, err := a.RecoverHome(cmd.Context(), l.Config, o.InitOptions, o.relay, words)
			if errors.Is(err, relays.ErrForbidden) {
				return cli.AdvisedError{Err: err, Advice: "The relay knows no home with these words. Is it the relay that the home synced through?"}
			}
			if err != nil {
				return err
			}
			return writeJoinedSettings(a, l, &o, j)
		},
	}
	o.flags(a, c)
	return c
}
