package main

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

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

func (a *app) engineCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "engine", Short: "Choose what hears, reads and thinks beside the node", RunE: a.needsCommand,
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
	c.AddCommand(a.engineAddCommand(), a.engineListCommand(), a.engineRemoveCommand())
	return c
}

// engineOptions are flags of locket engine add.
type engineOptions struct {
	model   string
	keyFile string
	consent bool
	yes     bool
}

func (a *app) engineAddCommand() *cobra.Command {
	var o engineOptions
	c := &cobra.Command{
		Use: "add ears|eyes|mind ADDRESS|auto [MODEL]", Short: "Try an engine with a sample, and use it from now on", Args: between(2, 3, "ears, eyes or mind, or its address (or auto),"),
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
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				if args[1] == "auto" {
					return a.addFoundEngine(cmd, cl, args[0], o)
				}
				return a.addEngine(cmd, cl, args[0], args[1], o)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.keyFile, "key-file", "", "`file` with the key that the service wants")
	f.BoolVar(&o.consent, "consent", false, "allow an engine on another machine")
	f.BoolVarP(&o.yes, "yes", "y", false, "with auto: use the best one that is found, without asking")
	return c
}

// engineGets says what an engine is given.
var engineGets = map[string]string{"ears": "your recordings", "eyes": "your photos", "mind": "what is said around you"}

// checkAddress refuses an engine's address that has a user name or a password in it, and does not
// repeat it.
func checkAddress(address string) error {
	if strings.Contains(address, "@") {
		return usagef("an engine's address has no user name or password in it; a key is given with locket engine add --key-file FILE")
	}
	return nil
}

func (a *app) addEngine(cmd *cobra.Command, cl *serve.Client, kind, address string, o engineOptions) error {
	if err := checkAddress(address); err != nil {
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
	if gets := engineGets[kind]; gets != "" && engines.IsAddress(address) && !(&engines.Spec{URL: address}).Local() && !o.consent {
		if !a.confirm(fmt.Sprintf("%s is not on this machine. It would get %s, but nothing that was said near a secret. Agree?", oneLine(address), gets)) {
			return advisedError{errors.New("nothing was added"), "To agree without a terminal: --consent"}
		}
		r.Consent = true
	}
	e, err := a.tryEngine(cmd.Context(), cl, r)
	if again, lacks := a.addBetter(&r, err); lacks {
		err = advisedError{err, "want: " + again}
	} else if errors.Is(err, serve.ErrEngine) && strings.Contains(err.Error(), "does not answer") {
		err = advisedError{err, "Start it, or look for what is on this machine: " + a.here("locket engine add "+kind+" auto")}
	}
	return a.printed(err, e, func(w io.Writer) { a.showEngine(w, &e) })
}

// tryEngine adds an engine that answers to the sample. A service may have to load its model for that.
func (a *app) tryEngine(ctx context.Context, cl *serve.Client, r serve.AddEngineRequest) (serve.Engine, error) {
	m := a.meter(fmt.Sprintf("try it with a sample, %.0f minutes at most", engines.SampleTime.Minutes()), "", 0)
	defer m.end()
	return cl.AddEngine(ctx, r)
}

// addFoundEngine asks about each engine that is found, the best one first.
func (a *app) addFoundEngine(cmd *cobra.Command, cl *serve.Client, kind string, o engineOptions) error {
	found, err := cl.FoundEngines(cmd.Context(), kind)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return advisedError{fmt.Errorf("nothing that %s was found", engineVerb[kind]), engineHelp[kind]}
	}
	for _, f := range found {
		what := oneLine(f.Name)
		if f.Address != f.Engine {
			what += " at " + oneLine(f.Address)
		}
		if !o.yes && !a.confirm("Use "+what+"?") {
			continue
		}
		o := o
		o.model = f.Model
		err := a.addEngine(cmd, cl, kind, f.Address, o)
		if o.yes && errors.Is(err, serve.ErrEngine) {
			fmt.Fprintf(a.stderr, "%s: %v\n", what, err)
			continue
		}
		return err
	}
	return advisedError{errors.New("nothing was added"), "To take the best one without being asked: --yes"}
}

// engineHelp says how to get an engine.
var engineHelp = map[string]string{
	"ears": "Run whisper.cpp's server, or install Debian's pocketsphinx and pocketsphinx-en-us; or give an address.",
	"eyes": "Install Debian's tesseract-ocr, or run Ollama with a model that sees; or give an address.",
	"mind": "Run Ollama or llama.cpp's server with a model; or give an address and a model.",
}

func (a *app) engineListCommand() *cobra.Command {
	again := false
	c := &cobra.Command{
		Use: "list", Short: "List the engines, what each answered to a sample, and what waits", Args: nothing(),
		RunE: a.call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			list := cl.Engines
			if again {
				list = func(ctx context.Context) ([]serve.Engine, error) {
					m := a.meter("try each with a sample", "", 0)
					defer m.end()
					return cl.TryEngines(ctx)
				}
			}
			all, err := list(cmd.Context())
			if err != nil {
				return err
			}
			return a.showEngines(all)
		}),
	}
	c.Flags().BoolVar(&again, "try", false, "try each with the sample again")
	return c
}

func (a *app) engineRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove ears|eyes|mind [ENGINE]", Short: "Stop using an engine", Args: between(1, 2, "what it is for"),
		Long: "What it has made stays. ENGINE is its name or address, where there are two of a kind.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r := serve.RemoveEngineRequest{Kind: args[0]}
			if len(args) == 2 {
				r.Name = args[1]
			}
			return a.with(cmd.Context(), true, func(cl *serve.Client) error {
				left, err := cl.RemoveEngine(cmd.Context(), r)
				if errors.Is(err, memory.ErrNotFound) {
					return advisedError{err, "Those that are in use: " + a.here("locket engine list")}
				}
				if err != nil {
					return err
				}
				return a.showEngines(left)
			})
		},
	}
}

func (a *app) showEngines(all []serve.Engine) error {
	return rows(a, nil, all, a.showEngine, "There are none: recordings wait for words. See what is on this machine: locket engine add ears auto")
}

func (a *app) showEngine(w io.Writer, e *serve.Engine) {
	where := "a program on this machine"
	if e.URL != "" {
		where = oneLine(e.URL)
		if !e.Local {
			where += ", " + a.paint.bold("not on this machine")
		}
	}
	fmt.Fprintf(w, "%-4s  %s, %s\n", e.Kind, oneLine(e.Name), where)
	if s := e.Sample; s != nil && s.Error != "" {
		fmt.Fprintf(w, "      sample: %s\n", a.paint.red(oneLine(s.Error)))
	} else if s != nil {
		fmt.Fprintf(w, "      sample: %s in %.1f s", plural(s.Words, "word", "words"), s.Seconds)
		if s.Factor > 0 {
			fmt.Fprintf(w, ", %.2f times as long as the sound", s.Factor)
		}
		fmt.Fprintf(w, ": %q\n", oneLine(s.Text))
	}
	if line := a.engineWaits(e); line != "" {
		fmt.Fprintf(w, "      %s\n", line)
	}
	for _, why := range e.Reasons {
		fmt.Fprintf(w, "      %s\n", a.paint.dim("parked: "+oneLine(why)))
	}
	if e.Parked > 0 {
		again := a.here("locket llm retry")
		if e.Kind != "mind" {
			again = a.addAgain(e)
		}
		fmt.Fprintf(w, "      To have them tried again: %s\n", again)
	}
}

// addBetter is the command to try an engine again after a failure, with what the failure says
// that it lacked: a model or a key.
func (a *app) addBetter(r *serve.AddEngineRequest, err error) (command string, lacked bool) {
	e := serve.Engine{Kind: r.Kind, URL: r.Address, Model: r.Model, Local: !engines.IsAddress(r.Address) || (&engines.Spec{URL: r.Address}).Local()}
	if errors.Is(err, memory.ErrInvalid) && engines.IsAddress(r.Address) && r.Kind != "ears" && r.Model == "" {
		e.Model = "MODEL"
	}
	e.Keyed = errors.Is(err, serve.ErrEngine) && wantsKey.MatchString(err.Error())
	return a.addAgain(&e), e.Keyed || e.Model != r.Model
}

// wantsKey finds the status by which a server refuses a key that is wrong or missing.
var wantsKey = regexp.MustCompile(`\b40[13]\b`)

// addAgain is the command that adds an engine anew, as it is.
func (a *app) addAgain(e *serve.Engine) string {
	c := "locket engine add " + e.Kind + " " + shellWord(oneLine(cmp.Or(e.URL, e.Engine)))
	if e.Model != "" {
		c += " " + shellWord(oneLine(e.Model))
	}
	if e.Keyed {
		c += " --key-file FILE"
	}
	if !e.Local {
		c += " --consent"
	}
	return a.here(c)
}

// engineWaits says what waits for an engine, empty where nothing does.
func (a *app) engineWaits(e *serve.Engine) string {
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
			parts = append(parts, plural(n, one, many)+" "+how)
		}
	}
	add(e.Waiting, "waiting")
	add(e.Parked, "parked")
	add(e.Held, "near a secret, kept from it")
	add(e.Absent, "whose file is not on this device")
	if e.Trouble != "" {
		parts = append(parts, a.paint.red(oneLine(e.Trouble)))
	}
	if !e.Retry.IsZero() {
		parts = append(parts, "tried again at "+a.when(e.Retry))
	}
	return strings.Join(parts, "; ")
}
