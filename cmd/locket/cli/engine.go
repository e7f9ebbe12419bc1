package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

// EngineGets says what data an engine of each kind gets.
var EngineGets = map[string]string{"ears": "your recordings", "eyes": "your photos", "mind": "what is said around you"}

// CheckEngineAddress refuses an engine's address that contains a user name or a password, or that
// has no host. The first error does not repeat the address.
func CheckEngineAddress(address string) error {
	if strings.Contains(address, "@") {
		return Usagef("an engine's address must not contain a user name or password; give a key with locket engine add --key-file FILE")
	}
	if _, host, is := strings.Cut(address, "://"); is && strings.Trim(host, "/") == "" {
		return Usagef("%q: the host is missing", address)
	}
	return nil
}

// TryEngine adds an engine if it answers the sample. A service may have to load its model first.
func (a *App) TryEngine(ctx context.Context, cl *serve.Client, r serve.AddEngineRequest) (serve.Engine, error) {
	m := a.Meter(fmt.Sprintf("try it with a sample (%.0f minutes at most)", engines.SampleTime.Minutes()), "", 0)
	defer m.End()
	return cl.AddEngine(ctx, r)
}

// EngineHelp says how to get an engine.
var EngineHelp = map[string]string{
	"ears": "Run whisper.cpp's server, or install Debian's pocketsphinx and pocketsphinx-en-us; or give an address.",
	"eyes": "Install Debian's tesseract-ocr, or run Ollama with a model that sees; or give an address.",
	"mind": "Run Ollama or llama.cpp's server with a model; or give an address and a model.",
}

func (a *App) ShowEngine(w io.Writer, e *serve.Engine) {
	where := "a program on this machine"
	if e.URL != "" {
		where = OneLine(e.URL)
		if !e.Local {
			where += ", " + a.Paint.Bold("not on this machine")
		}
	}
	fmt.Fprintf(w, "%-4s  %s, %s\n", e.Kind, OneLine(e.Name), where)
	if s := e.Sample; s != nil && s.Error != "" {
		fmt.Fprintf(w, "      sample: %s\n", a.Paint.Red(OneLine(s.Error)))
	} else if s != nil {
		fmt.Fprintf(w, "      sample: %s in %.1f s", Plural(s.Words, "word", "words"), s.Seconds)
		if s.Factor > 0 {
			fmt.Fprintf(w, ", %.2f times as long as the sound", s.Factor)
		}
		fmt.Fprintf(w, ": %q", OneLine(s.Text))
		if s.Said != "" {
			fmt.Fprint(w, a.Paint.Red(fmt.Sprintf(", but the sample says %q", OneLine(s.Said))))
		}
		fmt.Fprintln(w)
	}
	if line := a.EngineWaits(e); line != "" {
		fmt.Fprintf(w, "      %s\n", line)
	}
	for _, why := range e.Reasons {
		fmt.Fprintf(w, "      %s\n", a.Paint.Dim("parked: "+OneLine(why)))
	}
	if e.Parked > 0 {
		again := a.WithHome("locket llm retry")
		if e.Kind != "mind" {
			again = a.addAgain(e)
		}
		fmt.Fprintf(w, "      To have them tried again: %s\n", again)
	}
}

// EngineAgain returns the command that tries an engine again after a failure. lacked is true if the
// failure shows that a model or a key was missing; the command then contains a place for it. If the
// engine misheard the sample, the command adds it anyway.
func (a *App) EngineAgain(r *serve.AddEngineRequest, err error) (command string, lacked bool) {
	e := serve.Engine{Kind: r.Kind, URL: r.Address, Model: r.Model, Local: !engines.IsAddress(r.Address) || (&engines.Spec{URL: r.Address}).Local()}
	if errors.Is(err, memory.ErrInvalid) && engines.IsAddress(r.Address) && r.Kind != "ears" && r.Model == "" {
		e.Model = "MODEL"
	}
	wants := errors.Is(err, serve.ErrEngine) && wantsKey.MatchString(err.Error())
	e.Keyed = wants || r.Key != ""
	command = a.addAgain(&e)
	if errors.Is(err, serve.ErrMisheard) {
		command += " --anyway"
	}
	return command, wants || e.Model != r.Model
}

// wantsKey finds what the daemon says of a server that refuses a wrong or missing key.
var wantsKey = regexp.MustCompile(` (wants a|refuses the) key: `)

// addAgain returns the command that adds an engine again, unchanged.
func (a *App) addAgain(e *serve.Engine) string {
	c := "locket engine add " + e.Kind + " " + ShellWord(OneLine(cmp.Or(e.URL, e.Engine)))
	if e.Model != "" {
		c += " " + ShellWord(OneLine(e.Model))
	}
	if e.Keyed {
		c += " --key-file FILE"
	}
	if !e.Local {
		c += " --consent"
	}
	return a.WithHome(c)
}

// EngineWaits says what waits for an engine. It is empty if nothing does.
func (a *App) EngineWaits(e *serve.Engine) string {
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
			parts = append(parts, Plural(n, one, many)+" "+how)
		}
	}
	add(e.Waiting, "waiting")
	add(e.Parked, "parked")
	add(e.Held, "near a secret, kept from it")
	add(e.Absent, "whose file is not on this device")
	if e.Trouble != "" {
		parts = append(parts, a.Paint.Red(OneLine(e.Trouble)))
	}
	if !e.Retry.IsZero() {
		parts = append(parts, "tried again at "+a.ShowTime(e.Retry))
	}
	return strings.Join(parts, "; ")
}

// EngineVerb says what engines of a kind do.
var EngineVerb = map[string]string{"ears": "transcribes recordings", "eyes": "reads photos", "mind": "finds memories in what is said"}
