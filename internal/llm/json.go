package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// asks is how often a model is asked for JSON before giving up.
const asks = 3

// shown is how many bytes of a wrong answer the model is shown again.
const shown = 2 << 10

// AskJSON asks for JSON of r.Schema and calls take with it. If take returns an
// error, the model is told, and asked again, up to 3 times in all. An error is
// a *Fault, or that of ctx.
func (c *Client) AskJSON(ctx context.Context, r Request, take func(b []byte) error) (Usage, error) {
	var used Usage
	var wrong error
	turns := r.Messages
	for range asks {
		a, err := c.Ask(ctx, r)
		used.add(a.Usage)
		if err != nil {
			if f, ok := errors.AsType[*Fault](err); ok && f.Kind == Babbled && !a.Cut {
				wrong = err // there is no text
				continue
			}
			return used, err
		}
		b, err := Repair(a.Text)
		if err == nil {
			err = take(b)
		}
		if err != nil && b != nil {
			if inner := arguments(b); inner != nil && take(inner) == nil {
				err = nil
			}
		}
		if err == nil {
			return used, nil
		}
		if a.Cut {
			err = fmt.Errorf("it ended at %d tokens: %w", c.cfg.MaxTokens, err)
		}
		wrong = err
		text := a.Text
		if len(text) > shown {
			text = strings.ToValidUTF8(text[:shown], "") + "…"
		}
		r.Messages = append(turns[:len(turns):len(turns)], Message{Role: Assistant, Text: text},
			Message{Role: User, Text: "That can't be used: " + err.Error() + ". Answer again, with one JSON object of the schema and nothing else."})
	}
	if f, ok := errors.AsType[*Fault](wrong); ok {
		return used, f
	}
	return used, faultf(Babbled, 200, "asked %d times: %v", asks, wrong)
}

// arguments returns the arguments of a call of a tool that a model wrote as text, such as
// {"name": …, "arguments": {…}}. It returns nil if it is none.
func arguments(call []byte) []byte {
	var c struct{ Arguments, Parameters loose } // Parameters: of Llama's models
	_ = json.Unmarshal(call, &c)
	b, _ := Repair(string(c.Arguments + c.Parameters))
	return b
}

// errNoObject: an answer contains no complete JSON object.
var errNoObject = errors.New("there is no whole JSON object in it")

// Repair extracts the JSON object from a model's answer: from a Markdown fence,
// or after a sentence. It corrects common mistakes:
// commas before a closing bracket, and line ends within strings. A truncated
// object is an error.
func Repair(text string) ([]byte, error) {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return nil, errNoObject
	}
	var out []byte
	var open []byte // closing brackets that are still missing
	inString := false
	for i := start; i < len(text); i++ {
		b := text[i]
		if inString {
			switch {
			case b == '\\' && i+1 < len(text):
				out = append(out, b, text[i+1])
				i++
				continue
			case b == '"':
				inString = false
			case b < 0x20:
				out = append(out, controls[b]...)
				continue
			}
			out = append(out, b)
			continue
		}
		switch b {
		case '"':
			inString = true
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			if open[len(open)-1] != b {
				return nil, errNoObject
			}
			open = open[:len(open)-1]
			out = withoutComma(out)
		}
		out = append(out, b)
		if len(open) == 0 {
			return out, nil
		}
	}
	return nil, errNoObject
}

// controls are the escapes of control characters in JSON.
var controls = func() (list [0x20]string) {
	for i := range list {
		list[i] = fmt.Sprintf(`\u%04x`, i)
	}
	list['\n'], list['\t'], list['\r'] = `\n`, `\t`, `\r`
	return list
}()

// withoutComma removes a comma at the end, and the space after it.
func withoutComma(b []byte) []byte {
	n := len(b)
	for n > 0 && (b[n-1] == ' ' || b[n-1] == '\n' || b[n-1] == '\t' || b[n-1] == '\r') {
		n--
	}
	if n > 0 && b[n-1] == ',' {
		return b[:n-1]
	}
	return b
}
