package appcmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

const (
	hookTime   = 5 * time.Second // after this time, the assistant goes on without memory
	hookBudget = 500             // tokens that go into a session, and into each prompt
	maxHook    = 4 << 20         // bytes of a hook's input
	maxAsked   = 4 << 10         // bytes of a prompt that are looked for
)

// hookInput is what Claude Code and Codex send to a hook: the fields that both document.
type hookInput struct {
	Event  string `json:"hook_event_name"`
	Folder string `json:"cwd"`    // where the assistant works
	Prompt string `json:"prompt"` // of UserPromptSubmit
}

// hookAnswer is what both read. Without Output it says nothing: {}.
type hookAnswer struct {
	Output *hookOutput `json:"hookSpecificOutput,omitempty"`
}

type hookOutput struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext"`
}

func mcpHookCommand(a *cli.App) *cobra.Command {
	var file, name string
	var budget int
	c := &cobra.Command{
		Use: "hook --app NAME", Short: "Answer a hook of Claude Code or Codex with what is remembered", Args: cli.Nothing(),
		Long: `Reads the JSON of a hook from standard input, and prints the hook's answer, as JSON. When a
session starts (SessionStart) the answer has core memories, what is due within 48 hours, and
what is remembered of the folder by its name; to a prompt (UserPromptSubmit) it has what is remembered of that. It is
fenced data, as far as the app may read it. Nothing is added where nothing is known. Other hooks are answered by {}.

A hook never holds the assistant up: where no daemon runs, the key opens nothing, or an
answer takes more than ` + hookTime.String() + `, the answer is {}, the reason is on standard error, and the exit
code is 0.

With mcp.learn (LOCKET_MCP_LEARN=true) each prompt is remembered as a line of yours, where
the app may add. It is off unless you set it. What the assistant says is never remembered.`,
		Example: `  echo '{"hook_event_name": "SessionStart"}' | locket mcp hook --app claude-code
  echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Where is my kayak?"}' | locket mcp hook --app codex`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), hookTime)
			defer cancel()
			answer, err := answerHook(a, ctx, file, name, budget)
			if err != nil {
				a.TellError(err) // and no more: with another exit code the prompt would be lost
			}
			return json.NewEncoder(a.Stdout).Encode(answer)
		},
	}
	f := c.Flags()
	appFlags(f, &file, &name)
	f.IntVar(&budget, "budget", hookBudget, "most `tokens` that are added")
	return c
}

// answerHook asks as the app for what a hook wants. An answer that comes with an error is
// good all the same.
func answerHook(a *cli.App, ctx context.Context, file, name string, budget int) (answer hookAnswer, err error) {
	in, err := readHook(a.Stdin)
	if err != nil {
		return answer, err
	}
	if in.Event != "SessionStart" && (in.Event != "UserPromptSubmit" || strings.TrimSpace(in.Prompt) == "") {
		return answer, nil
	}
	if file, err = appKeyFile(a, file, name); err != nil {
		return answer, err
	}
	c, err := a.AsApp(ctx, file)
	if err != nil {
		return answer, err
	}
	defer c.Close()
	ask := atPrompt
	if in.Event == "SessionStart" {
		ask = atStart
	}
	text, err := ask(ctx, c, in, budget)
	if text != "" {
		answer.Output = &hookOutput{in.Event, retrieve.Fence(text)}
	}
	// After that, or what is said now would be what is remembered of it.
	return answer, errors.Join(err, learnPrompt(a, ctx, c, in.Prompt))
}

// Core memories go into a session when it begins, and not again with each prompt.
const notCore = "type != core"

// atStart gives core memories, what is due soon, and what is remembered of the folder by its name.
func atStart(ctx context.Context, c *serve.Client, in hookInput, budget int) (string, error) {
	topic := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, filepath.Base(in.Folder))
	if topic = strings.TrimSpace(topic); topic != "" {
		got, err := c.Context(ctx, serve.ContextRequest{Topic: topic, Due: true, Budget: budget})
		if err != nil || got.Known {
			return got.Text, err
		}
	}
	got, err := c.Context(ctx, serve.ContextRequest{Due: true, Budget: budget})
	return got.Text, err
}

// atPrompt gives what is remembered of a prompt; nothing, where nothing answers it.
func atPrompt(ctx context.Context, c *serve.Client, in hookInput, budget int) (string, error) {
	asked := strings.TrimSpace(in.Prompt)
	if len(asked) > maxAsked {
		asked = strings.ToValidUTF8(asked[:maxAsked], "")
	}
	without, err := filter.Parse(notCore, nil)
	if err != nil {
		return "", err
	}
	got, err := c.Context(ctx, serve.ContextRequest{Messages: []serve.ContextMessage{{Text: asked}}, Budget: budget, Filters: without})
	if err != nil || !got.Known {
		return "", err
	}
	return got.Text, nil
}

func readHook(from io.Reader) (in hookInput, err error) {
	b, err := io.ReadAll(io.LimitReader(from, maxHook+1))
	if err == nil && len(b) > maxHook {
		err = fmt.Errorf("more than %d bytes", maxHook)
	}
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	if err == nil && in.Event == "" {
		err = errors.New("hook_event_name is missing")
	}
	if err != nil {
		err = fmt.Errorf("reading the hook from standard input: %w", err)
	}
	return in, err
}

// learnPrompt takes a prompt as a line of the wearer's, once a day however often it comes,
// where the wearer turned that on. An app that may not add teaches nothing. Commands of the
// assistant (/compact), and what it writes into prompts itself (<task-notification>), are
// not what somebody said.
func learnPrompt(a *cli.App, ctx context.Context, c *serve.Client, prompt string) error {
	l, err := a.Load()
	if err != nil {
		return err
	}
	said := strings.TrimSpace(prompt)
	if said == "" || !l.MCP.Learn || len(said) > memory.MaxText || strings.HasPrefix(said, "/") || strings.HasPrefix(said, "<") {
		return nil
	}
	sum := sha256.Sum256([]byte(time.Now().UTC().Format(time.DateOnly) + "\x00" + said))
	_, err = c.Add(ctx, serve.AddRequest{Text: said, Key: "hook/" + hex.EncodeToString(sum[:])})
	if errors.Is(err, serve.ErrForbidden) {
		return nil
	}
	return err
}
