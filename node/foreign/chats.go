package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// addLine adds a line that somebody said, for the extractors.
func (r *Result) addLine(f Format, where, key, speaker, text string, at time.Time, metadata map[string]string) *serve.AddRequest {
	add := r.add(f, where, key, text, at, metadata)
	if add != nil {
		yes := true
		add.Infer, add.Tags, add.Speaker = &yes, nil, cut(speaker)
	}
	return add
}

// readClaude reads conversations.json of Claude's data export: what the user wrote, as lines
// that were said.
func readClaude(r *Result, name string, b []byte) error {
	var list []struct {
		ID       string `json:"uuid"`
		Name     string `json:"name"`
		Created  string `json:"created_at"`
		Messages []struct {
			ID      string `json:"uuid"`
			Sender  string `json:"sender"`
			Text    string `json:"text"`
			Created string `json:"created_at"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
		} `json:"chat_messages"`
	}
	if err := decode(name, b, &list); err != nil {
		return err
	}
	for i, c := range list {
		if c.Messages == nil {
			r.skip(fmt.Sprintf("%s: conversation %d", name, i+1), "it has no chat_messages")
			continue
		}
		for j, m := range c.Messages {
			if r.ended() {
				break
			}
			if m.Sender != "human" {
				continue
			}
			var parts []string
			for _, p := range m.Content { // older exports have it only as text
				if p.Type == "text" {
					parts = append(parts, p.Text)
				}
			}
			text := cmp.Or(strings.TrimSpace(strings.Join(parts, "\n")), strings.TrimSpace(m.Text))
			if text == "" {
				continue // a file
			}
			at := cmp.Or(instant(m.Created), instant(c.Created))
			where := fmt.Sprintf("%s: conversation %d, message %d", name, i+1, j+1)
			r.addLine(Claude, where, cmp.Or(m.ID, c.ID+"\x1f"+strconv.Itoa(j)), "", text, at, map[string]string{"claude_conversation": c.Name})
		}
	}
	return nil
}

// telegramChat is a chat of Telegram Desktop's result.json.
type telegramChat struct {
	ID       any    `json:"id"`
	Name     string `json:"name"`
	Messages []struct {
		ID       any    `json:"id"`
		Type     string `json:"type"`
		Unix     string `json:"date_unixtime"`
		Date     string `json:"date"`
		From     string `json:"from"`
		FromID   string `json:"from_id"`
		Text     any    `json:"text"` // a text, or a list of texts and of objects with one
		Forwards string `json:"forwarded_from"`
	} `json:"messages"`
}

// readTelegram reads result.json of Telegram Desktop, for a chat or a whole account: what
// each person wrote, except forwarded messages. An account's export says who the wearer is.
func readTelegram(r *Result, name string, b []byte, o Options) error {
	var whole struct {
		telegramChat
		Me struct {
			ID any `json:"user_id"`
		} `json:"personal_information"`
		Chats struct {
			List []telegramChat `json:"list"`
		} `json:"chats"`
	}
	if err := decode(name, b, &whole); err != nil {
		return err
	}
	chats := whole.Chats.List
	if whole.Messages != nil {
		chats = append(chats, whole.telegramChat)
	}
	if len(chats) == 0 {
		return fmt.Errorf("%w: %s: want a chat's messages, or chats of an account", memory.ErrInvalid, name)
	}
	me := "user" + word(whole.Me.ID)
	forwarded := 0
	for _, c := range chats {
		for i, m := range c.Messages {
			if r.ended() {
				break
			}
			text := strings.TrimSpace(telegramText(m.Text))
			if m.Type != "message" || text == "" {
				continue // a call, a picture, somebody who joined
			}
			if m.Forwards != "" {
				forwarded++
				continue
			}
			at := instant(m.Unix)
			if at.IsZero() {
				at, _ = time.ParseInLocation("2006-01-02T15:04:05", m.Date, o.zone()) // zero: now
			}
			speaker := o.speaker(m.From)
			if m.FromID == me && me != "user" {
				speaker = ""
			}
			where := fmt.Sprintf("%s: chat %q, message %s", name, c.Name, cmp.Or(word(m.ID), strconv.Itoa(i+1)))
			r.addLine(Telegram, where, word(c.ID)+"\x1f"+cmp.Or(word(m.ID), m.Date+text), speaker, text, at, map[string]string{"telegram_chat": c.Name})
		}
	}
	if forwarded > 0 {
		r.skip(name, "left out: %d forwarded messages, which are the words of others", forwarded)
	}
	return nil
}

func telegramText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		return word(v["text"])
	case []any:
		var b strings.Builder
		for _, p := range v {
			b.WriteString(telegramText(p))
		}
		return b.String()
	}
	return ""
}

// whatsAppHead matches the beginning of a message in WhatsApp's export: "14/09/2026, 08:12 -
// Ana: " on Android, "[14.09.26, 08:12:33] Ana: " on iPhones.
var whatsAppHead = regexp.MustCompile(`^\[?(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4})\.?,? (\d{1,2})[:.](\d\d)(?:[:.](\d\d))?(?: ?([AaPp])\.?\s?[Mm]\.?)?(?:\]| [-–])\s?(.*)$`)

// whatsAppLine is a message as it is in the file.
type whatsAppLine struct {
	n       int    // line number in the file
	date    [3]int // in the order in which the numbers appear
	clock   [3]int
	speaker string
	text    []byte
}

// whatsAppMedia matches the text that replaces what is not in the export.
var whatsAppMedia = regexp.MustCompile(`(?i)^(<.{1,60}>|.{1,40} omitted|this message was deleted\.?|you deleted this message\.?|null)$|^<attached: |\(file attached\)$`)

// readWhatsApp reads a chat that was exported without media. Each line except WhatsApp's own
// notices is what somebody said.
func readWhatsApp(r *Result, name string, b []byte, o Options) error {
	var lines []whatsAppLine
	own := 0 // number of WhatsApp's own notices
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, memory.MaxText+1024)
	plain := strings.NewReplacer("\u200e", "", "\u200f", "", "\u202f", " ", "\u00a0", " ", "\r", "")
	for n := 1; sc.Scan() && !r.ended(); n++ {
		text := plain.Replace(sc.Text())
		m := whatsAppHead.FindStringSubmatch(text)
		if m == nil {
			if len(lines) > 0 { // a message with several lines
				last := &lines[len(lines)-1]
				last.text = append(append(last.text, '\n'), text...)
			} else if strings.TrimSpace(text) != "" {
				return fmt.Errorf("%w: %s, line %d: want a date and a time, as WhatsApp exports a chat", memory.ErrInvalid, name, n)
			}
			continue
		}
		if r.bounded && len(lines) > 2*MaxAdds { // half of them may be pictures, or WhatsApp's own notices
			return r.end("%s, line %d: more than %d messages", name, n, 2*MaxAdds)
		}
		l := whatsAppLine{n: n}
		for i, s := range []string{m[1], m[3], m[4]} {
			l.date[i], _ = strconv.Atoi(s) // these are digits
		}
		for i, s := range []string{m[5], m[6], m[7]} {
			l.clock[i], _ = strconv.Atoi(s) // these are digits, or empty
		}
		switch half := strings.ToLower(m[8]); {
		case half == "p" && l.clock[0] < 12:
			l.clock[0] += 12
		case half == "a" && l.clock[0] == 12:
			l.clock[0] = 0
		}
		if speaker, said, ok := strings.Cut(m[9], ": "); ok {
			l.speaker, l.text = speaker, []byte(said)
		} else {
			own++
		}
		lines = append(lines, l)
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%w: %s: %v", memory.ErrInvalid, name, err)
	}
	if len(lines) == 0 {
		return fmt.Errorf("%w: %s: there is no message in it", memory.ErrInvalid, name)
	}
	order, err := orderOf(name, lines, o.Dates)
	if err != nil {
		return err
	}
	media, same := 0, map[string]int{}
	for _, l := range lines {
		if r.ended() {
			break
		}
		text := strings.TrimSpace(string(l.text))
		if l.speaker == "" {
			continue
		}
		if text == "" || whatsAppMedia.MatchString(text) {
			media++
			continue
		}
		at, ok := l.at(order, o.zone())
		where := fmt.Sprintf("%s, line %d", name, l.n)
		if !ok {
			r.skip(where, "there is no such time")
			continue
		}
		key := strings.Join([]string{l.speaker, at.UTC().Format(time.RFC3339), text}, "\x1f")
		same[key]++ // counts the same words in the same minute
		r.addLine(WhatsApp, where, key+"\x1f"+strconv.Itoa(same[key]), o.speaker(l.speaker), text, at, map[string]string{"whatsapp_chat": name})
	}
	if media+own > 0 {
		r.skip(name, "left out: pictures, recordings and deleted messages: %d; lines of WhatsApp itself: %d", media, own)
	}
	return nil
}

// at returns the time of a line whose date has an order such as "dmy".
func (l *whatsAppLine) at(order string, zone *time.Location) (time.Time, bool) {
	y, m, d := l.date[strings.IndexByte(order, 'y')], l.date[strings.IndexByte(order, 'm')], l.date[strings.IndexByte(order, 'd')]
	if y < 100 {
		y += 2000
	}
	t := time.Date(y, time.Month(m), d, l.clock[0], l.clock[1], l.clock[2], 0, zone)
	return t, y >= 2009 && y < 2200 && m >= 1 && m <= 12 && d >= 1 && t.Day() == d && l.clock[0] < 24 && l.clock[1] < 60
}

// orderOf returns the order of dates: the given one, or the one with which all lines have a
// valid date and none is before the previous one.
func orderOf(name string, lines []whatsAppLine, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	var fits []string
	for _, order := range Orders {
		last, good := time.Time{}, true
		for i := range lines {
			t, ok := lines[i].at(order, time.UTC)
			if order == "ymd" { // nobody writes this order with a two-digit year
				ok = ok && lines[i].date[0] > 1000
			}
			if good = ok && !t.Before(last.Add(-time.Hour)); !good { // an hour is allowed for the end of summer time
				break
			}
			last = t
		}
		if good {
			fits = append(fits, order)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return "", fmt.Errorf("%w: %s: its dates fit no known order: say how they are written with --dates %s", memory.ErrInvalid, name, strings.Join(Orders, ", "))
	}
	return "", fmt.Errorf("%w: %s: its dates could be %s: say which with --dates", memory.ErrInvalid, name, strings.Join(fits, " or "))
}
