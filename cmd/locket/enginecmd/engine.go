// Package enginecmd has the commands of engines, voices and language models.
package enginecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/cmd/locket/devicecmd"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

func EngineCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "engine", Short: "Choose what hears, reads and thinks beside the node", RunE: a.NeedsCommand,
		Long: `Ears turn recordings into words, eyes read photos or say what they show, and a mind is a
language model that finds memories in what is said. They work in a process of their own
beside the daemon; no relay and no worker is needed.

'auto' looks for programs that are installed and for services at their usual addresses on
this machine, and asks before it uses one. An engine that is not on this machine gets what
it is to work on, so that you are asked once; what was said near a secret never goes there.`,
		Example: `  locket engine add ears auto
  locket engine add ears http://127.0.0.1:8080
  locket engine add eyes tesseract
  locket engine add mind http://127.0.0.1:11434/v1 qwen3:8b
  locket engine list`,
	}
	c.AddCommand(engineAddCommand(a), engineListCommand(a), engineRemoveCommand(a))
	return c
}

// engineOptions are flags of locket engine add.
type engineOptions struct {
	model   string
	keyFile string
	consent bool
	yes     bool
}

func engineAddCommand(a *cli.App) *cobra.Command {
	var o engineOptions
	c := &cobra.Command{
		Use: "add ears|eyes|mind ADDRESS|auto [MODEL]", Short: "Try an engine with a sample, and use it from now on", Args: kindFirst(2, 3, "ears, eyes or mind, or its address (or auto),"),
		Long: `ADDRESS is one of

  pocketsphinx            ears: a program; American English only, and poor
  tesseract               eyes: a program that reads print
  http://HOST:PORT        ears: a server of whisper.cpp, or one with OpenAI's speech API
                          eyes, mind: a server with OpenAI's chat API, such as Ollama
  tcp://HOST:PORT         ears: a server that speaks Wyoming, as Home Assistant's do
  auto                    whatever is found on this machine, and Wyoming servers that the
                          network announces (zeroconf); each is asked about

The engine takes the place of the one that did the same. Eyes that read and eyes that see
work side by side. It is tried with a sample first, and not added where that fails. What it
failed at before is tried again.`,
		Example: `  locket engine add ears auto --yes
  locket engine add eyes http://127.0.0.1:11434/v1 qwen2.5vl:7b
  locket engine add ears https://api.openai.com/v1 whisper-1 --key-file openai.key --consent`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				o.model = args[2]
			}
			return a.With(cmd.Context(), true, func(cl *serve.Client) error {
				if args[1] == "auto" {
					return addFoundEngine(a, cmd, cl, args[0], o)
				}
				return addEngine(a, cmd, cl, args[0], args[1], o)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.keyFile, "key-file", "", "`file` with the key that the service wants")
	f.BoolVar(&o.consent, "consent", false, "allow an engine on another machine")
	f.BoolVarP(&o.yes, "yes", "y", false, "with auto: use the best one that is found, without asking")
	return c
}

// kindFirst has a command take from low to high arguments, of which the first is a kind of engine.
func kindFirst(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := cli.Between(low, high, what)(c, args)
		if err == nil && EngineVerb[args[0]] == "" {
			err = cli.Usagef("%q: want ears, eyes or mind", args[0])
		}
		return err
	}
}

// EngineGets says what an engine is given.
var EngineGets = map[string]string{"ears": "your recordings", "eyes": "your photos", "mind": "what is said around you"}

// CheckAddress refuses an engine's address that has a user name or a password in it, and does not
// repeat it.
func CheckAddress(address string) error {
	if strings.Contains(address, "@") {
		return cli.Usagef("an engine's address has no user name or password in it; a key is given with locket engine add --key-file FILE")
	}
	return nil
}

func addEngine(a *cli.App, cmd *cobra.Command, cl *serve.Client, kind, address string, o engineOptions) error {
	if err := CheckAddress(address); err != nil {
		return err
	}
	r := serve.AddEngineRequest{Kind: kind, Address: address, Model: o.model, Consent: o.consent}
	if o.keyFile != "" {
		b, err := os.ReadFile(o.keyFile)
		if err != nil {
			return fmt.Errorf("reading the key: %w", err)
		}
		r.Key = serve.Secret(strings.TrimSpace(string(b)))
	}
	if gets := EngineGets[kind]; gets != "" && engines.IsAddress(address) && !(&engines.Spec{URL: address}).Local() && !o.consent {
		if !devicecmd.Confirm(a, fmt.Sprintf("%s is not on this machine. It would get %s, but nothing that was said near a secret. Agree?", cli.OneLine(address), gets)) {
			return cli.AdvisedError{Err: errors.New("nothing was added"), Advice: "To agree without a terminal: --consent"}
		}
		r.Consent = true
	}
	e, err := TryEngine(a, cmd.Context(), cl, r)
	if again, lacks := AddBetter(a, &r, err); lacks {
		err = cli.AdvisedError{Err: err, Advice: "want: " + again}
	} else if errors.Is(err, serve.ErrEngine) && strings.Contains(err.Error(), "does not answer") {
		err = cli.AdvisedError{Err: err, Advice: "Start it, or look for what is on this machine: " + a.Here("locket engine add "+kind+" auto")}
	}
	return a.Printed(err, e, func(w io.Writer) { ShowEngine(a, w, &e) })
}

// TryEngine adds an engine that answers to the sample. A service may have to load its model for that.
func TryEngine(a *cli.App, ctx context.Context, cl *serve.Client, r serve.AddEngineRequest) (serve.Engine, error) {
	m := a.Meter(fmt.Sprintf("try it with a sample, %.0f minutes at most", engines.SampleTime.Minutes()), "", 0)
	defer m.End()
	return cl.AddEngine(ctx, r)
}

// addFoundEngine asks about each engine that is found, the best one first.
func addFoundEngine(a *cli.App, cmd *cobra.Command, cl *serve.Client, kind string, o engineOptions) error {
	found, err := cl.FoundEngines(cmd.Context(), kind)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return cli.AdvisedError{Err: fmt.Errorf("nothing that %s was found", EngineVerb[kind]), Advice: EngineHelp[kind]}
	}
	for _, f := range found {
		what := cli.OneLine(f.Name)
		if f.Address != f.Engine {
			what += " at " + cli.OneLine(f.Address)
		}
		if !o.yes && !devicecmd.Confirm(a, "Use "+what+"?") {
			continue
		}
		o := o
		o.model = f.Model
		err := addEngine(a, cmd, cl, kind, f.Address, o)
		if o.yes && errors.Is(err, serve.ErrEngine) {
			fmt.Fprintf(a.Stderr, "%s: %v\n", what, err)
			continue
		}
		return err
	}
	return cli.AdvisedError{Err: errors.New("nothing was added"), Advice: "To take the best one without being asked: --yes"}
}

// EngineHelp says how to get an engine.
var EngineHelp = map[string]string{
	"ears": "Run whisper.cpp's server, or install Debian's pocketsphinx and pocketsphinx-en-us; or give an address.",
	"eyes": "Install Debian's tesseract-ocr, or run Ollama with a model that sees; or give an address.",
	"mind": "Run Ollama or llama.cpp's server with a model; or give an address and a model.",
}

func engineListCommand(a *cli.App) *cobra.Command {
	again := false
	c := &cobra.Command{
		Use: "list", Short: "List the engines, what each answered to a sample, and what waits", Args: cli.Nothing(),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list := cl.Engines
			if again {
				list = func(ctx context.Context) ([]serve.Engine, error) {
					m := a.Meter("try each with a sample", "", 0)
					defer m.End()
					return cl.TryEngines(ctx)
				}
			}
			all, err := list(cmd.Context())
			if err != nil {
				return err
			}
			return showEngines(a, all)
		}),
	}
	c.Flags().BoolVar(&again, "try", false, "try each with the sample again")
	return c
}

func engineRemoveCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove ears|eyes|mind [ENGINE]", Short: "Stop using an engine", Args: kindFirst(1, 2, "what it is for"),
		Long: "What it has made stays. ENGINE is its name or address, where there are two of a kind.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r := serve.RemoveEngineRequest{Kind: args[0]}
			if len(args) == 2 {
				r.Name = args[1]
			}
			return a.With(cmd.Context(), true, func(cl *serve.Client) error {
				left, err := cl.RemoveEngine(cmd.Context(), r)
				if errors.Is(err, memory.ErrNotFound) {
					return cli.AdvisedError{Err: err, Advice: "Those that are in use: " + a.Here("locket engine list")}
				}
				if err != nil {
					return err
				}
				return showEngines(a, left)
			})
		},
	}
}

func showEngines(a *cli.App, all []serve.Engine) error {
	return cli.Rows(a, nil, all, func(a0 io.Writer, a1 *serve.Engine) { ShowEngine(a, a0, a1) }, "There are none: recordings wait for words. See what is on this machine: locket engine add ears auto")
}

func ShowEngine(a *cli.App, w io.Writer, e *serve.Engine) {
	where := "a program on this machine"
	if e.URL != "" {
		where = cli.OneLine(e.URL)
		if !e.Local {
			where += ", " + a.Paint.Bold("not on this machine")
		}
	}
	fmt.Fprintf(w, "%-4s  %s, %s\n", e.Kind, cli.OneLine(e.Name), where)
	if s := e.Sample; s != nil && s.Error != "" {
		fmt.Fprintf(w, "      sample: %s\n", a.Paint.Red(cli.OneLine(s.Error)))
	} else if s != nil {
		fmt.Fprintf(w, "      sample: %s in %.1f s", cli.Plural(s.Words, "word", "words"), s.Seconds)
		if s.Factor > 0 {
			fmt.Fprintf(w, ", %.2f times as long as the sound", s.Factor)
		}
		fmt.Fprintf(w, ": %q\n", cli.OneLine(s.Text))
	}
	if line := EngineWaits(a, e); line != "" {
		fmt.Fprintf(w, "      %s\n", line)
	}
	for _, why := range e.Reasons {
		fmt.Fprintf(w, "      %s\n", a.Paint.Dim("parked: "+cli.OneLine(why)))
	}
	if e.Parked > 0 {
		again := a.Here("locket llm retry")
		if e.Kind != "mind" {
			again = addAgain(a, e)
		}
		fmt.Fprintf(w, "      To have them tried again: %s\n", again)
	}
}

// AddBetter is the command to try an engine again after a failure, with what the failure says
// that it lacked: a model or a key.
func AddBetter(a *cli.App, r *serve.AddEngineRequest, err error) (command string, lacked bool) {
	e := serve.Engine{Kind: r.Kind, URL: r.Address, Model: r.Model, Local: !engines.IsAddress(r.Address) || (&engines.Spec{URL: r.Address}).Local()}
	if errors.Is(err, memory.ErrInvalid) && engines.IsAddress(r.Address) && r.Kind != "ears" && r.Model == "" {
		e.Model = "MODEL"
	}
	e.Keyed = errors.Is(err, serve.ErrEngine) && wantsKey.MatchString(err.Error())
	return addAgain(a, &e), e.Keyed || e.Model != r.Model
}

// wantsKey finds the status by which a server refuses a key that is wrong or missing.
var wantsKey = regexp.MustCompile(`\b40[13]\b`)

// addAgain is the command that adds an engine anew, as it is.
func addAgain(a *cli.App, e *serve.Engine) string {
	c := "locket engine add " + e.Kind + " " + cli.ShellWord(cli.OneLine(cmp.Or(e.URL, e.Engine)))
	if e.Model != "" {
		c += " " + cli.ShellWord(cli.OneLine(e.Model))
	}
	if e.Keyed {
		c += " --key-file FILE"
	}
	if !e.Local {
		c += " --consent"
	}
	return a.Here(c)
}

// EngineWaits says what waits for an engine, empty where nothing does.
func EngineWaits(a *cli.App, e *serve.Engine) string {
	one, many := "recording", "recordings"
	switch e.Kind {
	case "eyes":
		one, many = "photo", "photos"
	case "mind":
		one, many = "line", "lines"
	}
	var parts []string
	add := func(n int, how string) {
		if n > 0 {
			parts = append(parts, cli.Plural(n, one, many)+" "+how)
		}
	}
	add(e.Waiting, "waiting")
	add(e.Parked, "parked")
	add(e.Held, "near a secret, kept from it")
	add(e.Absent, "whose file is not on this device")
	if e.Trouble != "" {
		parts = append(parts, a.Paint.Red(cli.OneLine(e.Trouble)))
	}
	if !e.Retry.IsZero() {
		parts = append(parts, "tried again at "+a.When(e.Retry))
	}
	return strings.Join(parts, "; ")
}

// EngineVerb says what engines of a kind do.
var EngineVerb = map[string]string{"ears": "hears recordings", "eyes": "reads photos", "mind": "finds memories in what is said"}
