package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// style has the colours of the console.
const style = `:root{color-scheme:light dark;--paper:#f7f5f1;--sheet:#fff;--ink:#1f1d1a;--soft:#5d5952;--line:#e2ddd4;--strong:#cfc8bc;--accent:#0f5f56;--on:#fff;--bad:#a3271c;--badsoft:#fbe3df;--sunk:#efece6;font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans",sans-serif}
@media(prefers-color-scheme:dark){:root{--paper:#141412;--sheet:#1d1d1a;--ink:#eeebe4;--soft:#aaa59a;--line:#34322c;--strong:#4a473f;--accent:#6fd0bd;--on:#06211d;--bad:#ff9b8d;--badsoft:#43201b;--sunk:#262521}}
*{box-sizing:border-box;margin:0}html{background:var(--paper);color:var(--ink);overflow-wrap:anywhere}
main{max-width:620px;margin:0 auto;padding:36px 20px 64px}
.brand{font-size:16px;font-weight:680;color:var(--accent);margin-bottom:18px}
h1{font-size:26px;line-height:1.2;font-weight:650;letter-spacing:-.015em;margin-bottom:10px}
form{margin-top:22px;display:grid;gap:14px}
fieldset,.card{border:1px solid var(--line);border-radius:10px;background:var(--sheet);padding:14px 16px}
legend{font-weight:650;padding:0 6px;margin-left:-6px}
label{display:flex;gap:10px;align-items:baseline;padding:3px 0}
.row label{display:inline-flex;margin-right:18px}
.soft{color:var(--soft);font-size:13.5px}.bad{color:var(--bad);background:var(--badsoft);border-radius:10px;padding:10px 14px;margin-top:18px}
input[type=text],select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--strong);border-radius:8px;padding:7px 10px}
input[name=code]{font:600 18px ui-monospace,monospace;letter-spacing:.08em;width:11em;text-transform:uppercase;margin-top:8px}
input[type=checkbox],input[type=radio]{accent-color:var(--accent)}
code{font:13px/1.5 ui-monospace,Consolas,monospace;background:var(--sunk);border-radius:5px;padding:2px 6px}
.do{display:flex;gap:10px;flex-wrap:wrap}button{font:inherit;font-weight:550;cursor:pointer;min-height:40px;padding:8px 18px;border:1px solid var(--strong);border-radius:8px;background:var(--sheet);color:var(--ink)}
.yes{background:var(--accent);border-color:var(--accent);color:var(--on)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}`

var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// guard sets what the browser may do with the page: show it, and send its form to the
// node, which may redirect the browser to one other origin.
func guard(h http.Header, then string) {
	h.Set("Content-Security-Policy", "default-src 'none'; style-src "+styleHash+"; form-action "+strings.TrimSpace("'self' "+then)+"; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // without a referrer the browser would not say whose form it sends
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// What the wearer can choose from.
var (
	types      = []string{string(memory.Semantic), string(memory.Episodic), string(memory.Procedural), string(memory.Resource), string(memory.Core)}
	typeWords  = []string{"facts", "what happened", "how things are done", "notes, photos and documents", "about you"}
	rightWords = map[serve.Right]string{
		serve.RightRead:   "Read: search your memories, list them, and take photos and recordings",
		serve.RightAdd:    "Add: remember new things, in its own name and below what you said",
		serve.RightUpdate: "Update: correct what it wrote itself",
		serve.RightForget: "Forget: erase for good what it may see. This can't be undone",
	}
	lives = []life{{"1", "a day", 24 * time.Hour}, {"30", "30 days", 30 * 24 * time.Hour}, {"90", "90 days", 90 * 24 * time.Hour}, {"365", "a year", 365 * 24 * time.Hour}}
)

// life is how long a key is valid.
type life struct {
	days, words string
	d           time.Duration
}

// page is an HTML page that is being written.
type page struct{ strings.Builder }

// add writes a format with its arguments escaped. Attributes are quoted in the
// format.
func (p *page) add(format string, args ...string) {
	safe := make([]any, len(args))
	for i, a := range args {
		safe[i] = html.EscapeString(a)
	}
	fmt.Fprintf(p, format, safe...)
}

func (p *page) head(title string) {
	p.add(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title><style>`, title)
	p.WriteString(style)
	p.WriteString(`</style><main><p class="brand">Locket</p>`)
}

// box writes one option.
func (p *page) box(kind, name, value, words string, checked bool) {
	on := ""
	if checked {
		on = " checked"
	}
	p.add(`<label><input type="`+kind+`" name="%s" value="%s"`+on+`><span>%s</span></label>`, name, value, words)
}

func (p *page) send(w http.ResponseWriter, status int, then string) {
	guard(w.Header(), then)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(p.String())) // a browser that has left needs no answer
}

// fault shows an error page.
func fault(w http.ResponseWriter, status int, why string) {
	var p page
	p.head("Locket: this can't be done")
	p.add(`<h1>This can’t be done</h1><p class="bad" role="alert">%s</p></main></html>`, why)
	p.send(w, status, "")
}

// show shows the consent page; wrong says what has to be corrected.
func (s *Server) show(w http.ResponseWriter, _ *http.Request, status int, q *request, c choice, wrong string) {
	var p page
	p.head("Locket: give an app access?")
	to, place := q.origin(), "the program that opened this page on this machine"
	if u, err := url.Parse(q.redirect); err == nil && !clientaddr.Loopback(u.Hostname()) {
		place = u.Host
	}
	p.add(`<h1>Give “<bdi>%s</bdi>” access to your memory?</h1><p>The app chose this name itself, and any app can take any name. If you agree, your browser continues to <strong>%s</strong>, which gets the key.</p>`, q.client.Name, place)
	if wrong != "" {
		p.add(`<p class="bad" role="alert">%s</p>`, wrong)
	}
	p.add(`<form method="post" action="%s" autocomplete="off"><input type="hidden" name="request" value="%s">`, authorizePath, q.handle)
	p.add(`<fieldset><legend>It asks to</legend>`)
	for _, right := range q.can {
		p.box("checkbox", "can", string(right), rightWords[right], slices.Contains(c.Can, right))
	}
	p.add(`<p class="soft">It never sees your vault, and reads no more than your policy allows.</p></fieldset><fieldset class="row"><legend>Of these memories</legend>`)
	for i, t := range types {
		p.box("checkbox", "types", t, typeWords[i], slices.Contains(c.Types, t))
	}
	p.add(`</fieldset><fieldset class="row"><legend>Sensitivity, at most</legend>`)
	for _, most := range []memory.Sensitivity{memory.Public, memory.Personal, memory.Private} {
		p.box("radio", "sensitivity", most.String(), most.String(), c.Sensitivity != nil && *c.Sensitivity == most)
	}
	p.add(`</fieldset><fieldset><legend>Name and time</legend><label>Your name for it <input type="text" name="name" value="%s" maxlength="32" required></label><label>Its key expires after <select name="days">`, c.Name)
	for _, l := range lives {
		on := ""
		if l.days == c.days {
			on = " selected"
		}
		p.add(`<option value="%s"`+on+`>%s</option>`, l.days, l.words)
	}
	p.add(`</select></label></fieldset><fieldset><legend>Prove that it is you</legend><p>On the machine that runs your node, run <code>locket app waiting</code> and enter the code that it shows for this app:</p><input type="text" name="code" aria-label="Code" maxlength="12" placeholder="XXXX-XXXX"><p class="soft">Later: <code>locket app log</code> shows what it did, and <code>locket app revoke</code> revokes its key.</p></fieldset>`)
	p.add(`<div class="do"><button class="yes" name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></div></form></main></html>`)
	p.send(w, status, to)
}
