package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cloud/worker"
	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/cloud/worker/queue/postgres"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/sync/envelope"
)

// workerFlags are the flags of worker and its subcommands.
type workerFlags struct {
	home, relay string
	engines     worker.Engines
	openAIKey   string // file
	visionKey   string // file
	llmKey      string // file
	languages   string
	db          string
	parallel    int
	tokens      int64
	dollars     float64
	prices      []string
	wall, cpu   time.Duration
	memoryMiB   int64
}

func (a *app) workerCommand() *cobra.Command {
	f := &workerFlags{}
	cmd := &cobra.Command{
		Use: "worker --home DIR", Short: "Run a worker, which transcribes and reads for owners who grant it access", Args: nothing,
		Long: `Transcribe recordings and read the print in photos, in the spaces whose owners have
granted access to this worker, and answer with memories of the lowest rank. With
--llm-url, a language model finds memories in what was said. Once a day, with a model or
without, the worker summarises names that belong together, and archives what workers have
said twice.

Data for an engine or model at an address leaves this machine. 'locket-cloud worker
engines' lists the engines.

To get access: 'locket-cloud worker invite-key' prints a request. With it the owner runs
'locket grant worker', which prints a welcome. 'locket-cloud worker join' accepts the
welcome. The worker stops on SIGTERM or SIGINT. When an owner revokes the grant, the
worker destroys its keys and everything that it had of the space.

The worker can read what it is granted. Run it only where you would read that yourself.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runWorker(cmd.Context(), f) },
	}
	p := cmd.PersistentFlags()
	p.StringVar(&f.home, "home", "", "`folder` of the worker, made if it does not exist")
	p.StringVar(&f.engines.Speech, "speech", "", "`engine` for recordings: pocketsphinx, whisper.cpp, openai, wyoming or none; default: the one that has an address")
	p.StringVar(&f.engines.WhisperURL, "whisper-url", os.Getenv("LOCKET_WHISPER_URL"), "`address` of a whisper.cpp server (LOCKET_WHISPER_URL)")
	p.StringVar(&f.engines.OpenAIURL, "openai-url", os.Getenv("LOCKET_OPENAI_URL"), "`address` of an OpenAI-compatible service that transcribes (LOCKET_OPENAI_URL)")
	p.StringVar(&f.engines.OpenAIModel, "openai-model", "", "its `model`; default whisper-1")
	p.StringVar(&f.openAIKey, "openai-key-file", "", "`file` with its key; default: LOCKET_OPENAI_KEY")
	p.StringVar(&f.engines.Wyoming, "wyoming", os.Getenv("LOCKET_WYOMING"), "`HOST:PORT` of a Wyoming server (LOCKET_WYOMING)")
	p.StringVar(&f.engines.WyomingModel, "wyoming-model", "", "its `model`")
	p.StringVar(&f.engines.Sight, "sight", "", "`engine` for print: tesseract or none")
	p.StringVar(&f.languages, "print-languages", "", "Tesseract's language `names`, separated by commas; default eng,chi_sim")
	p.StringVar(&f.engines.VisionURL, "vision-url", os.Getenv("LOCKET_VISION_URL"), "`address` of an OpenAI-compatible vision model (LOCKET_VISION_URL)")
	p.StringVar(&f.engines.VisionModel, "vision-model", "", "its `model`")
	p.StringVar(&f.visionKey, "vision-key-file", "", "`file` with its key; default: LOCKET_VISION_KEY")
	l := &f.engines.Language
	p.StringVar(&l.URL, "llm-url", os.Getenv("LOCKET_LLM_URL"), "`address` of an OpenAI-compatible language model, such as Ollama's http://127.0.0.1:11434/v1 (LOCKET_LLM_URL)")
	p.StringVar(&l.Model, "llm-model", "", "its `model`")
	p.StringVar(&f.llmKey, "llm-key-file", "", "`file` with its key; default: LOCKET_LLM_KEY")
	p.StringVar((*string)(&l.Format), "llm-format", "", "`format` in which to ask for JSON: schema, object or text; default: the best that it accepts")
	p.DurationVar(&l.Timeout, "llm-time", 0, "the longest that one answer may take; default 2m")
	p.StringVar(&l.Wearer, "wearer", "", "`name` of the spaces' owner among the speakers; default: what the spaces say")
	p.DurationVar(&f.wall, "engine-time", 0, "the longest that a program may run for one input; default 3m")
	p.DurationVar(&f.cpu, "engine-cpu", 0, "the most processor time that it may take; default 2m")
	flags := cmd.Flags()
	flags.StringVar(&f.db, "db", os.Getenv("LOCKET_JOBS_DB"), "`postgres://…` database for the jobs, shared by workers with the same settings; default: a file in the home (LOCKET_JOBS_DB)")
	flags.IntVar(&f.parallel, "parallel", 1, "how many `jobs` to run at a time")
	flags.Int64Var(&f.tokens, "budget-tokens", 0, "the most `tokens` for a space in a day (UTC); the rest waits for the next day. 0: no limit")
	flags.Float64Var(&f.dollars, "budget-usd", 0, "the most `dollars` for a space in a day, at the prices given with --price; 0: no limit")
	p.StringArrayVar(&f.prices, "price", nil, "`MODEL=IN/OUT`: dollars for a million tokens in and out, or MODEL=DOLLARS/min for a minute of sound; may be repeated. For a model without a price, only tokens are counted")
	p.Int64Var(&f.memoryMiB, "engine-memory", 0, "the most memory that it may use, in `MiB`; default 1024")
	cmd.AddCommand(
		&cobra.Command{Use: "invite-key --home DIR", Short: "Print the request that an owner grants", Args: nothing,
			RunE: func(*cobra.Command, []string) error { return a.inviteKey(f) }},
		a.joinCommand(f),
		&cobra.Command{Use: "engines", Short: "List the engines, and what to install or set for those that are missing", Args: nothing,
			RunE: func(cmd *cobra.Command, _ []string) error { return a.engines(cmd.Context(), f) }},
	)
	return cmd
}

func (a *app) joinCommand(f *workerFlags) *cobra.Command {
	cmd := &cobra.Command{Use: "join --home DIR --relay URL WELCOME", Short: "Accept an owner's welcome, given as text or as @FILE", Args: one("WELCOME"),
		Example: "  locket-cloud worker join --home worker --relay https://relay.example @welcome",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.join(cmd.Context(), f, args[0]) }}
	cmd.Flags().StringVar(&f.relay, "relay", "", "`address` of the relay that has the space")
	return cmd
}

func (f *workerFlags) needHome() error {
	if f.home == "" {
		return fmt.Errorf("%w: --home is missing: where the worker keeps its keys and jobs", errUsage)
	}
	return nil
}

// fill completes the engines with settings that have no flag.
func (f *workerFlags) fill() error {
	f.engines.Limits.Wall, f.engines.Limits.CPU, f.engines.Limits.Memory = f.wall, f.cpu, f.memoryMiB<<20
	if f.languages != "" {
		f.engines.Langs = strings.Split(f.languages, ",")
	}
	f.engines.Prices = cost.Prices{}
	for _, s := range f.prices {
		model, p, err := cost.ParsePrice(s)
		if err != nil {
			return fmt.Errorf("%w: --price: %w", errUsage, err)
		}
		f.engines.Prices[model] = p
	}
	var err error
	if f.engines.OpenAIKey, err = secret(f.openAIKey, "LOCKET_OPENAI_KEY"); err != nil {
		return err
	}
	if f.engines.VisionKey, err = secret(f.visionKey, "LOCKET_VISION_KEY"); err != nil {
		return err
	}
	f.engines.Language.Key, err = secret(f.llmKey, "LOCKET_LLM_KEY")
	return err
}

func secret(file, env string) (string, error) {
	if file == "" {
		return os.Getenv(env), nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read a key: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

func (a *app) runWorker(ctx context.Context, f *workerFlags) error {
	if err := errors.Join(f.needHome(), f.fill()); err != nil {
		return err
	}
	if f.parallel < 1 || f.tokens < 0 || !(f.dollars == 0 || f.dollars >= 1e-6 && f.dollars < 1e9) {
		return fmt.Errorf("%w: --parallel must be 1 or more; a budget must be 0 (no limit), or at least a token or a millionth of a dollar", errUsage)
	}
	w, err := worker.Open(ctx, worker.Config{Home: f.home, Engines: f.engines, DB: postgres.At(f.db), Parallel: f.parallel,
		Budget: queue.Cost{Tokens: f.tokens, MicroUSD: cost.MicroUSD(f.dollars * 1e6)}, Log: slog.New(slog.NewJSONHandler(a.stderr, nil))})
	if err != nil {
		return err
	}
	if err := a.showEngines(w.EngineStates()); err != nil {
		return errors.Join(err, w.Close())
	}
	n, what := len(w.Spaces()), "spaces"
	switch n {
	case 0:
		what += ": no owner has granted access. 'locket-cloud worker invite-key --home " + f.home + "' prints the request, and 'worker join' accepts the welcome"
	case 1:
		what = "space"
	}
	if err := a.print(map[string]int{"spaces": n}, "working in %d %s", n, what); err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(w.Run(ctx), w.Close())
}

func (a *app) inviteKey(f *workerFlags) error {
	if err := f.needHome(); err != nil {
		return err
	}
	request, err := worker.InviteKey(f.home)
	if err != nil {
		return err
	}
	return a.print(map[string]string{"request": request}, "%s", request)
}

func (a *app) join(ctx context.Context, f *workerFlags, welcome string) error {
	if err := f.needHome(); err != nil {
		return err
	}
	if f.relay == "" {
		return fmt.Errorf("%w: --relay is missing: where the space is", errUsage)
	}
	if file, ok := strings.CutPrefix(welcome, "@"); ok {
		b, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read the welcome: %w", err)
		}
		welcome = string(b) // white space in it is ignored
	}
	if _, err := envelope.ParseWelcome(welcome); err != nil {
		if _, missing := os.Stat(welcome); missing == nil {
			return fmt.Errorf("%w: %s is a file: give it as @%s", errUsage, welcome, welcome)
		}
		return fmt.Errorf("%w\nThe owner makes a welcome: give them what 'locket-cloud worker invite-key --home %s' prints. They run 'locket grant worker @FILE > welcome', and give you that file", err, f.home)
	}
	j, err := worker.Join(ctx, f.home, f.relay, welcome)
	if err != nil {
		return err
	}
	return a.print(map[string]any{"space": j.Space, "member": j.Member, "relay": j.Relay}, "joined space %s as %s", j.Space, j.Member)
}

func (a *app) engines(ctx context.Context, f *workerFlags) error {
	if err := f.fill(); err != nil {
		return err
	}
	found, err := worker.Detect(ctx, f.engines)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	return a.showEngines(found)
}

func (a *app) showEngines(found []worker.EngineState) error {
	for _, e := range found {
		note := ""
		switch {
		case !e.Present:
			note = " is missing: " + e.Need
		case e.Note != "":
			note = " (" + e.Note + ")"
		}
		if err := a.print(e, "%s: %s%s", e.Kind, e.Engine, note); err != nil {
			return err
		}
	}
	return nil
}
