// Package enginecmd contains the commands for engines, voices and language models: engine, voice,
// llm, instructions.
package enginecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

func EngineCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "engine", Short: "Choose the engines for speech, photos and language", RunE: a.NeedsCommand,
		Long: `Ears turn recordings into words. Eyes read photos or say what they show. A mind is a
language model that finds memories in what is said. They run in a process of their own
beside the daemon, without a relay or a worker.

'auto' looks for installed programs and for services at their usual addresses on this
machine, and asks before it uses one. An engine on another machine gets your data to work
on, so you are asked once. What was said near a secret never goes there.`,
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
	anyway  bool
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
  auto                    look on this machine, and for Wyoming servers announced in the
                          network (zeroconf); ask about each that is found

The engine replaces the one that did the same job. Eyes that read and eyes that see work
side by side. The engine is first tried with a sample, and is not added if that fails. If its
answer is far from what the sample says, in English, you are asked whether to use it anyway.
Inputs that failed before are then tried again.`,
		Example: `  locket engine add ears auto --yes
  locket engine add eyes http://127.0.0.1:11434/v1 qwen2.5vl:7b
  locket engine add ears https://api.openai.com/v1 whisper-1 --key-file openai.key --consent`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 3 {
				o.model = args[2]
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				if args[1] == "auto" {
					return addFoundEngine(a, cmd, cl, args[0], o)
				}
				return addEngine(a, cmd, cl, args[0], args[1], o)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.keyFile, "key-file", "", "`file` with the key for the service")
	f.BoolVar(&o.consent, "consent", false, "allow an engine on another machine")
	f.BoolVar(&o.anyway, "anyway", false, "use it even if it hears or reads the sample wrong")
	f.BoolVarP(&o.yes, "yes", "y", false, "with auto: use the best one found, without asking")
	return c
}

// kindFirst makes a command accept from low to high arguments. The first is a kind of engine.
func kindFirst(low, high int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := cli.ArgsBetween(low, high, what)(c, args)
		if err == nil && cli.EngineVerb[args[0]] == "" {
			err = cli.Usagef("%q: want ears, eyes or mind", args[0])
		}
		return err
	}
}

func addEngine(a *cli.App, cmd *cobra.Command, cl *serve.Client, kind, address string, o engineOptions) error {
	if err := cli.CheckEngineAddress(address); err != nil {
		return err
	}
	r := serve.AddEngineRequest{Kind: kind, Address: address, Model: o.model, Consent: o.consent, Anyway: o.anyway}
	if o.keyFile != "" {
		b, err := os.ReadFile(o.keyFile)
		if err != nil {
			return fmt.Errorf("reading the key: %w", err)
		}
		r.Key = serve.Secret(strings.TrimSpace(string(b)))
	}
	if gets := cli.EngineGets[kind]; gets != "" && engines.IsAddress(address) && !(&engines.Spec{URL: address}).Local() && !o.consent {
		if !a.Confirm(fmt.Sprintf("%s is not on this machine. It would get %s, except what was said near a secret. Do you agree?", cli.OneLine(address), gets)) {
			return cli.AdvisedError{Err: errors.New("nothing was added"), Advice: "To agree without a terminal: --consent"}
		}
		r.Consent = true
	}
	e, err := a.TryEngine(cmd.Context(), cl, r)
	if errors.Is(err, serve.ErrMisheard) && !o.yes {
		if !a.Confirm(cli.OneLine(strings.TrimPrefix(err.Error(), "engine: ")) + ". Use it anyway?") {
			again, _ := a.EngineAgain(&r, err)
			return cli.AdvisedError{Err: errors.New("nothing was added"), Advice: "To use it without being asked: " + again}
		}
		r.Anyway = true
		e, err = a.TryEngine(cmd.Context(), cl, r)
	}
	if again, lacks := a.EngineAgain(&r, err); lacks {
		err = cli.AdvisedError{Err: err, Advice: "Use: " + again}
	} else if errors.Is(err, serve.ErrEngine) && strings.Contains(err.Error(), "does not answer") {
		err = cli.AdvisedError{Err: err, Advice: "Start it, or look for an engine on this machine: " + a.WithHome("locket engine add "+kind+" auto")}
	} else if errors.Is(err, serve.ErrEngine) && strings.Contains(err.Error(), " sends us to ") {
		err = cli.AdvisedError{Err: err, Advice: "If your engine is there, add it with that address."}
	} else if errors.Is(err, serve.ErrEngine) && engines.IsAddress(address) {
		err = cli.AdvisedError{Err: err, Advice: "Check the address, its port, and the server's log. To see which servers can be used: locket engine add --help"}
	}
	return a.PrintUnless(err, e, func(w io.Writer) { a.ShowEngine(w, &e) })
}

// addFoundEngine asks about each engine that is found, the best one first.
func addFoundEngine(a *cli.App, cmd *cobra.Command, cl *serve.Client, kind string, o engineOptions) error {
	found, err := cl.FoundEngines(cmd.Context(), kind)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return cli.AdvisedError{Err: fmt.Errorf("no engine that %s was found", cli.EngineVerb[kind]), Advice: cli.EngineHelp[kind]}
	}
	for _, f := range found {
		what := cli.OneLine(f.Name)
		if f.Address != f.Engine {
			what += " at " + cli.OneLine(f.Address)
		}
		if !o.yes && !a.Confirm("Use "+what+"?") {
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
	return cli.AdvisedError{Err: errors.New("nothing was added"), Advice: "To use the best one without being asked: --yes"}
}

func engineListCommand(a *cli.App) *cobra.Command {
	again := false
	c := &cobra.Command{
		Use: "list", Short: "List the engines, their answers to a sample, and what waits for them", Args: cli.NoArgs(),
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
		Use: "remove ears|eyes|mind [ENGINE]", Short: "Stop using an engine", Args: kindFirst(1, 2, "ears, eyes or mind"),
		Long: "What it has made stays. ENGINE is its name or address, needed if there are two of a kind.",
		RunE: func(cmd *cobra.Command, args []string) error {
			r := serve.RemoveEngineRequest{Kind: args[0]}
			if len(args) == 2 {
				r.Name = args[1]
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				left, err := cl.RemoveEngine(cmd.Context(), r)
				if errors.Is(err, memory.ErrNotFound) {
					return cli.AdvisedError{Err: err, Advice: "To list the engines in use: " + a.WithHome("locket engine list")}
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
	return cli.Rows(a, nil, all, func(a0 io.Writer, a1 *serve.Engine) { a.ShowEngine(a0, a1) }, "No engines: recordings wait to be transcribed. To look for one on this machine: locket engine add ears auto")
}
