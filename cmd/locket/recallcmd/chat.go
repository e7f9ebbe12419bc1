package recallcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// chatHelp is the answer to help in a conversation.
const chatHelp = `  undo     undo what you told last, with all that was made of it; "forget that" does the same
  ? LINE   ask, whatever the line looks like
  + LINE   tell
  help     show this help
  bye      end the chat
`

func ChatCommand(a *cli.App) *cobra.Command {
	var plain bool
	c := &cobra.Command{
		Use: "chat", Short: "Talk with your memory: ask, tell, undo", Args: cli.NoArgs(),
		Long: `Reads one line at a time. It answers a question like locket ask: with a language model if one
is configured, and otherwise from the evidence. A question may refer to what was said before:
"where is the kayak?", "and who bought it?". Anything else is remembered, as with locket add,
and the answer says what was remembered. After an answer, "no, Tom has it" or "no, it's in the
shed" corrects who has the thing or where it is.

` + chatHelp + `
On a pipe, each line is printed with its answer below. With --json, there is one object per
line.`,
		Example: `  locket chat
  echo "where is the red kayak" | locket chat
  locket chat --json < lines.txt`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			return (&chat{app: a, client: cl, plain: plain}).run(cmd.Context())
		}),
	}
	c.Flags().BoolVar(&plain, "evidence", false, "do not ask a language model")
	return c
}

// chat is a conversation over memory.
type chat struct {
	app    *cli.App
	client *serve.Client
	plain  bool                   // do not ask a model
	before []serve.ContextMessage // what was asked, answered and told
	told   []addition             // what undo can undo, newest last
	about  string                 // the id of the memory that answered the last question; empty: the last line was none
	failed int                    // lines that were not answered
	shows  bool                   // print each line before its answer, because it was not typed on a terminal
	shown  bool                   // a line was printed before
}

// addition is one text that the conversation added.
type addition struct {
	text string
	line memory.ID
}

// chatAnswer is the result of a line. One of Asked, Told, Undone, Help and Problem is set.
type chatAnswer struct {
	Line    string              `json:"line"`
	Asked   *serve.AskResult    `json:"asked,omitempty"`
	Told    *serve.AddResult    `json:"told,omitempty"`
	Undone  *serve.ForgetResult `json:"undone,omitempty"`
	Text    string              `json:"text,omitempty"` // with undone: the text that was undone
	Help    string              `json:"help,omitempty"`
	Problem string              `json:"problem,omitempty"`
}

// maxBefore is how many messages of the conversation a question is sent with.
const maxBefore = 12

// undoWords are orders to undo that name their object. People say "forget it" and a bare 忘了 about
// anything, so these undo nothing.
var undoWords = regexp.MustCompile(`(?i)^/?(?:(?:no, |please |ok, |okay, )?(?:undo(?: (?:that|it))?|(?:scratch|delete|erase) it|(?:forget|scratch|delete|erase) (?:that|this|what i (?:just )?said|the last (?:one|thing|line))(?:,? please)?)|` +
	`撤销|撤回|(?:请)?(?:删掉|删了)它吧?|(?:请)?(?:忘了|忘掉|忘记|删掉|删了)(?:这个|这条|那个|那条|刚才的|刚才说的|我刚才说的|我刚说的)吧?)[.。!！]?$`)

// forgetWords are orders to forget more than the last line, which chat refuses. Other sentences
// about forgetting are statements: "Forget about the car, I sold it", 忘了我的钥匙在办公室.
var forgetWords = regexp.MustCompile(`(?i)^(?:please |can you |could you )?(?:(?:forget|erase|delete) (?:everything|anything|all (?:about|of|that|i|you|we|my memories|memories)\b|what (?:i|we|you|he|she|they)\b|that (?:(?:i|my|we|our|you|he|his|she|her|they|their|it|the)\b|(?-i:\p{Lu}))|(?:the|my) (?:memory|memories|lines?|conversation) )|` +
	`forget (?:my|the|about) [^,，;—]+$)|^(?:请)?(?:忘掉|忘了|忘记|删掉)(?:所有|关于|我说)|^(?:请(?:忘掉|忘了|忘记)|忘掉)我的`)

// commandWords are commands of other programs. Nobody would tell such a line.
var commandWords = regexp.MustCompile(`(?i)^/[a-z]+$`)

// correctsIt are lines that put right who has a thing or where it is, and name it only by a pronoun, or not at all.
var correctsIt = regexp.MustCompile(`(?i)^((?:no|nope|actually|sorry|wrong|wait)\b[^\pL]+)(?:([^,;]+ (?:has|have|got|took|put|left|parked)) (?:it|them)\b([^,;]*)|` +
	`(it's|it is|they're|they are)((?: now| still)? (?:in|on|at|with|under|behind|beside|next to|by|inside|near|above|below|between) [^,;]+))$`)

var correctsItZh = regexp.MustCompile(`^((?:不对|不是|说错了|错了|不)[，,。！ ]+)它?(在[^，,]+)$`)

var helpWords = regexp.MustCompile(`(?i)^/?(?:help|h|\?|？|帮助)$`)

var leaveWords = regexp.MustCompile(`(?i)^[/:]?(?:q|quit|exit|bye|退出|再见)[.。!！]?$`)

var errNothingTold = errors.New("you have told nothing in this chat that could be undone")

var errCommand = errors.New("unknown command, see help: write a question or a statement; undo undoes what you told last; ? LINE asks, + LINE tells, and bye ends the chat")

func (c *chat) run(ctx context.Context) error {
	s := &cli.Asker{App: c.app, Ctx: ctx, IsInteractive: c.app.IsInteractive()}
	c.shows = !s.IsInteractive && !c.app.JSON
	if s.IsInteractive {
		s.Tell("Ask or tell me something. Also: undo (what you told last), help, bye.\n")
	}
	for {
		if s.IsInteractive {
			s.Tell("> ")
		}
		line := ""
		err := s.Wait(func() (err error) {
			line, err = c.app.In.ReadString('\n')
			return err
		})
		line = strings.TrimSpace(line)
		if errors.Is(err, cli.ErrEnded) || s.IsInteractive && leaveWords.MatchString(line) {
			return nil
		}
		if line != "" {
			if err := c.answer(ctx, line); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) && c.failed > 0 && !s.IsInteractive:
			return fmt.Errorf("%s not answered", cli.Plural(c.failed, "line was", "lines were"))
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// answer answers one line. A line that can't be answered does not end the
// conversation.
func (c *chat) answer(ctx context.Context, line string) error {
	out := chatAnswer{Line: line}
	text, mark := line, ""
	if rest, ok := strings.CutPrefix(line, "? "); ok && strings.TrimSpace(rest) != "" {
		text, mark = strings.TrimSpace(rest), "?"
	} else if rest, ok := strings.CutPrefix(line, "+ "); ok && strings.TrimSpace(rest) != "" {
		text, mark = strings.TrimSpace(rest), "+"
	}
	var err error
	order := hans.Fold(line)
	switch {
	case mark == "" && undoWords.MatchString(order):
		err = c.undo(ctx, &out)
	case mark == "" && helpWords.MatchString(order):
		out.Help = chatHelp
	case mark == "" && commandWords.MatchString(order):
		err = errCommand
	case mark == "" && forgetWords.MatchString(order):
		err = errors.New(c.app.WithHome(`nothing was forgotten; to forget more than the last line: locket forget --query "WORDS", or with a time, --person or --place; to undo what you told last: undo; to tell this line: begin it with +`))
	case mark == "?" || mark == "" && retrieve.IsQuestion(text):
		err = c.ask(ctx, text, &out)
	default:
		err = c.tellIt(ctx, text, &out)
	}
	if err != nil && ctx.Err() != nil {
		return err
	}
	if c.shows {
		if c.shown {
			fmt.Fprintln(c.app.Stdout)
		}
		fmt.Fprintf(c.app.Stdout, "> %s\n", cli.OneLine(out.Line))
		c.shown = true
	}
	if err != nil {
		c.failed++
		out.Problem = err.Error()
		if !c.app.JSON {
			fmt.Fprintln(c.app.Stderr, c.app.Paint.Red(cli.OneLine(out.Problem)))
			return nil
		}
	}
	return c.app.Print(out, func(w io.Writer) {
		switch {
		case out.Asked != nil:
			showAnswer(c.app, w, out.Asked)
		case out.Told != nil:
			c.app.ShowAdded(w, out.Told)
		case out.Help != "":
			fmt.Fprint(w, out.Help)
		default:
			fmt.Fprintf(w, "Undone: %s\n", cli.OneLine(out.Text))
		}
	})
}

func (c *chat) ask(ctx context.Context, question string, out *chatAnswer) error {
	res, err := c.client.Ask(ctx, serve.AskRequest{Question: question, Before: c.before, EvidenceOnly: c.plain})
	if err != nil {
		return err
	}
	out.Asked = &res
	c.appendTurn("", question)
	c.about = ""
	if res.Known && len(res.Evidence) > 0 && res.Evidence[0].Section == string(memory.Semantic) {
		c.about = res.Evidence[0].ID.String()
	}
	switch { // the next question may refer to names in the answer
	case !res.Known:
	case res.Model != "":
		c.appendTurn("Locket", res.Answer)
	case len(res.Evidence) > 0:
		c.appendTurn("Locket", res.Evidence[0].Text)
	}
	return nil
}

func (c *chat) tellIt(ctx context.Context, text string, out *chatAnswer) error {
	res, err := c.client.Add(ctx, serve.AddRequest{Text: c.named(ctx, text), Keep: true})
	if err != nil {
		return err
	}
	out.Told = &res
	if res.Redacted > 0 { // the text contained a secret, which is kept only in the vault
		text = "a line with a secret"
		out.Line = text
	}
	if !res.Line.IsZero() {
		c.told = append(c.told, addition{text, res.Line})
	}
	if res.Redacted == 0 {
		c.appendTurn("", text)
	}
	return nil
}

// named puts the thing whose place was just answered where a line that corrects the answer has a
// pronoun: "no, Tom has it" becomes "no, Tom has the spare key". The extractors see only what was told.
func (c *chat) named(ctx context.Context, text string) string {
	about := c.about
	c.about = ""
	en, zh := correctsIt.FindStringSubmatch(text), correctsItZh.FindStringSubmatch(text)
	if about == "" || en == nil && zh == nil {
		return text
	}
	m, err := c.client.Get(ctx, about)
	f := m.Fields.Semantic
	if err != nil || f == nil || f.Subject == "" || m.Slot == nil || m.Slot.Attribute != "location" {
		return text
	}
	thing := f.Subject
	if zh != nil {
		return zh[1] + thing + zh[2]
	}
	if !strings.Contains(thing, "'s ") {
		thing = "the " + thing
	}
	switch {
	case en[2] != "":
		return en[1] + en[2] + " " + thing + en[3]
	case strings.HasPrefix(strings.ToLower(en[4]), "it"):
		thing += " is"
	default:
		thing += " are"
	}
	return en[1] + thing + en[5]
}

func (c *chat) appendTurn(speaker, text string) {
	c.before = append(c.before, serve.ContextMessage{Speaker: speaker, Text: text})
	c.before = c.before[max(0, len(c.before)-maxBefore):]
}

// undo forgets the line that was told last, with the memories made of it. A memory with other
// evidence stays as it was before.
func (c *chat) undo(ctx context.Context, out *chatAnswer) error {
	if len(c.told) == 0 {
		return errNothingTold
	}
	last := c.told[len(c.told)-1]
	plan, err := c.client.PlanForget(ctx, serve.ForgetRequest{IDs: []string{last.line.String()}})
	if err != nil {
		return err
	}
	done, err := c.client.Forget(ctx, plan.Confirm)
	if err != nil {
		return err
	}
	c.told = c.told[:len(c.told)-1]
	for i := len(c.before) - 1; i >= 0; i-- {
		if c.before[i].Text == last.text {
			c.before = append(c.before[:i:i], c.before[i+1:]...)
			break
		}
	}
	out.Undone, out.Text = done.Result, last.text
	return nil
}
