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
	hookTime   = 5 * time.Second // after this time, the assistant continues without memory
	hookBudget = 500             // tokens that go into a session, and into each prompt
	maxHook    = 4 << 20         // bytes of a hook's input
	maxAsked   = 4 << 10         // bytes of a prompt that are searched for
)

// hookInput is what Claude Code and Codex send to a hook: the fields that both document.
type hookInput struct {
	Event  string `json:"hook_event_name"`
	Folder string `json:"cwd"`    // where the assistant works
	Prompt string `json:"prompt"` // of UserPromptSubmit
}

// hookAnswer is what both read. Without Output it adds nothing: {}.
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
		Use: "hook --app NAME", Short: "Answer a hook of Claude Code or Codex with what is remembered", Args: cli.NoArgs(),
		Long: `Reads the JSON of a hook from standard input, and prints the answer as JSON. When a session
starts (SessionStart), the answer has core memories, what is due within 48 hours, and what
is remembered about the name of the folder. To a prompt (UserPromptSubmit), it has what is
remembered about the prompt. The answer is fenced data, limited to what the app may read.
If nothing is known, nothing is added. The answer to any other hook is {}.

A hook never holds up the assistant. If no daemon is running, the key is not valid, or an
answer takes more than ` + hookTime.String() + `, the answer is {}, the reason goes to standard error, and the
exit code is 0.

With mcp.learn (LOCKET_MCP_LEARN=true), each prompt is remembered as something that you
said, if the app may add memories. This is off by default. What the assistant says is never
remembered.`,
		Example: `  echo '{"hook_event_name": "SessionStart"}' | locket mcp hook --app claude-code
  echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Where is my kayak?"}' | locket mcp hook --app codex`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), hookTime)
			defer cancel()
			answer, err := answerHook(a, ctx, file, name, budget)
			if err != nil {
				a.TellError(err) // but exit with 0: with another exit code the prompt would be lost
			}
			return json.NewEncoder(a.Stdout).Encode(answer)
		},
	}
	f := c.Flags()
	appFlags(f, &file, &name)
	f.IntVar(&budget, "budget", hookBudget, "add at most this many `tokens`")
	return c
}

// answerHook asks, as the app, for what a hook wants. An answer is valid even if it comes with an
// error.
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
	// Learn the prompt last. Otherwise the answer would contain the prompt itself.
	return answer, errors.Join(err, learnPrompt(a, ctx, c, in.Prompt))
}

// notCore leaves out core memories: they go into a session once, when it begins.
const notCore = "type != core"

// atStart returns core memories, what is due soon, and what is remembered about the folder's name.
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

// atPrompt returns what is remembered about a prompt, or nothing if nothing answers it.
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

// learnPrompt remembers a prompt as a line of the wearer if the wearer turned that on, at most once
// a day for the same prompt. An app that may not add memories teaches nothing. Commands of the
// assistant (/compact) and text that the assistant itself writes into prompts (<task-notification>)
// are left out, because nobody said them.
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
