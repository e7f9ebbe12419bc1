// Package appcmd contains the commands for assistants and other programs: app, which manages the
// key of each app, what it may do and what it did; and mcp, which is the server and the hooks that
// assistants start, and changes their settings.
package appcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/serve"
)

func AppCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "app", Short: "Give assistants and other programs access, each with its own key", RunE: a.NeedsCommand,
		Long: `An app uses this node with its own key, as a bearer token. It may do only what you allow,
and gets an entry of the vault only after your yes. Its log says which memories it was
shown and what it wrote.`,
	}
	c.AddCommand(appAddCommand(a), appListCommand(a), appLogCommand(a), appPassCommand(a), appRevokeCommand(a), appWaitingCommand(a))
	return c
}

func appAddCommand(a *cli.App) *cobra.Command {
	var o newAppOptions
	c := &cobra.Command{
		Use: "add NAME --can RIGHTS --types TYPES", Short: "Make a key for an app", Args: cli.ArgsBetween(1, 1, "the app's name"),
		Long: `Only the key is printed to standard output, and only once. The node stores its hash.

What an app writes carries the app's name, and never replaces what you or your wearables
said. The rights are:

  read     find and read memories
  add      add memories
  update   correct what the app wrote itself
  forget   erase for good what it may see, unless you pinned it
  chat     ask the model at proxy.url, which gets what the app may see of the topic
  buy      buy with your money at a market (locket market deposit), within --budget;
           above --alone it needs your yes (locket consent)
  share    with read: give readers copies of what it may see (locket share list)
  vault    ask for entries of your vault; each reading needs your yes (locket consent)
  console  alone, with --for: lets you open the console elsewhere (locket open --key-file)

The types are core, episodic, semantic, procedural, resource, and utterances, which are the
lines as they were said. Utterances need --sensitivity private. To an app, what it may not
see looks as if it did not exist.`,
		Example: `  locket app add claude --can read,add --types semantic,episodic,procedural
  locket app add crm --can read --types semantic --tags work --since 2026-01-01 --for 90d
  locket app add shopper --can buy --types semantic --budget "10.00 EUR" --alone "2.00 EUR"
  locket app add deploy --can vault --tags work
  locket app add laptop --can console --for 30d
  locket app add notes --can read,add,update,forget --types semantic --owner user:ann`,
		PreRunE: cli.RefuseEmptyFlags,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := a.Load(); err != nil {
				return err
			}
			o.r.Name = args[0]
			if err := o.read(a); err != nil {
				return err
			}
			return a.WithClient(cmd.Context(), true, func(c *serve.Client) error { return addApp(a, cmd.Context(), c, o.r) })
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.can, "can", nil, "`rights`: read, add, update, forget, chat, buy, share, vault; or console alone")
	f.StringSliceVar(&o.r.Types, "types", nil, "`types` that it may see and add")
	f.StringVar(&o.sensitivity, "sensitivity", "", "the highest sensitivity `level` that it may see; default personal")
	f.StringSliceVar(&o.r.Tags, "tags", nil, "only memories with one of these `tags`")
	f.StringVar(&o.since, "since", "", "only what is from this `time` or later")
	f.StringVar(&o.until, "until", "", "only what is from before this `time`")
	f.StringSliceVar(&o.owner, "owner", nil, "only memories of this `scope`: user:NAME, agent:NAME or run:NAME")
	f.IntVar(&o.r.Delegate, "delegate", 0, "how many times (`count`) it may pass on a narrower key; see locket app pass")
	f.StringVar(&o.r.Hook, "hook", "", "`URL` to call when there are new memories that it may see")
	f.StringVar(&o.buying.Budget, "budget", "", "with --can buy: the `amount` that it may spend in 30 days, such as 10.00 EUR")
	f.StringVar(&o.buying.Alone, "alone", "", "the highest `price` that it pays without asking you (locket consent)")
	f.StringVar(&o.buying.Market, "market", "", "`URL` of the relay with the market; default: the node's relay")
	f.StringSliceVar(&o.buying.Categories, "category", nil, "it may buy only in these `categories`")
	f.StringVar(&o.life, "for", "", "how long the key is valid: a `duration` such as 90d")
	f.IntVar(&o.r.Requests, "requests", 0, fmt.Sprintf("`requests` per minute; default %d", serve.DefaultAppRequests))
	f.IntVar(&o.r.Tokens, "tokens", 0, fmt.Sprintf("`tokens` of memories that it gets per day; default %d", serve.DefaultAppTokens))
	return c
}

// newAppOptions are the flags of app add.
type newAppOptions struct {
	r                               serve.AppRequest
	can, owner                      []string
	buying                          serve.AppBuying
	sensitivity, since, until, life string
}

// read puts what the flags say into the request.
func (o *newAppOptions) read(a *cli.App) (err error) {
	r := &o.r
	for _, s := range o.can {
		r.Can = append(r.Can, serve.Right(strings.TrimSpace(s)))
	}
	if err := checkScope(r); err != nil {
		return err
	}
	if r.Sensitivity, err = cli.ReadSensitivity(o.sensitivity); err != nil {
		return err
	}
	if r.Since, r.Until, err = a.ReadPeriod(o.since, o.until); err != nil {
		return err
	}
	if r.Owner, err = readOwner(o.owner); err != nil {
		return err
	}
	if o.life != "" {
		d, err := config.ParseDuration(o.life)
		if err != nil || d <= 0 {
			return cli.Usagef("--for: want a duration such as 90d or 12h")
		}
		r.Ends = time.Now().Add(d.Std())
	}
	if b := &o.buying; b.Budget+b.Alone+b.Market != "" || len(b.Categories) > 0 || slices.Contains(r.Can, serve.RightBuy) {
		if b.Market = cmp.Or(b.Market, node.PrimaryRelay(&a.Settings.Config)); b.Market == "" {
			return cli.Usagef("--market URL is missing: this home has no relay")
		}
		r.Buying = b
	}
	return nil
}

// addApp makes an app, and prints its key.
func addApp(a *cli.App, ctx context.Context, c *serve.Client, r serve.AppRequest) error {
	n, err := c.AddApp(ctx, r)
	if err != nil {
		return err
	}
	link, err := linkFor(&a.Settings.Config, &n)
	if err != nil {
		fmt.Fprintf(a.Stderr, "There is no link for other machines: %v\n", err)
	}
	if !a.JSON {
		fmt.Fprintf(a.Stderr, "%s may %s. Its key is shown only once:\n", n.App.Name, rightsText(n.App.Can))
	}
	return a.Print(newApp{n, link}, func(w io.Writer) {
		fmt.Fprintln(w, string(n.Key))
		showLink(a, link)
		if n.HookSecret != "" {
			fmt.Fprintf(a.Stderr, "The calls to %s are signed with this secret:\n%s\n", n.App.Hook, string(n.HookSecret))
		}
	})
}

// checkScope names the flags of what an app may do and see.
func checkScope(r *serve.AppRequest) error {
	const rights, types = "read, add, update, forget, chat, buy, share and vault, or console alone", "core, episodic, semantic, procedural, resource and utterances"
	switch {
	case slices.Equal(r.Can, []serve.Right{serve.RightConsole}):
		if len(r.Types) > 0 {
			return cli.Usagef("--types: with --can console the page shows everything")
		}
		return nil
	case len(r.Can) == 0:
		return cli.Usagef("--can is missing: want one or more of %s", rights)
	case len(r.Types) == 0 && slices.ContainsFunc(r.Can, func(c serve.Right) bool { return c != serve.RightVault }):
		return cli.Usagef("--types is missing: want one or more of %s", types)
	}
	for _, c := range r.Can {
		if !slices.Contains(serve.Rights[:], c) {
			return cli.Usagef("--can %q: want some of %s", string(c), rights)
		}
	}
	for _, t := range r.Types {
		if t != serve.AppUtterances && !slices.Contains(memory.Types[:], memory.Type(t)) {
			return cli.Usagef("--types %q: want some of %s", t, types)
		}
	}
	return nil
}

func readOwner(list []string) (o memory.Owner, err error) {
	for _, s := range list {
		kind, name, _ := strings.Cut(s, ":")
		to := map[string]*string{"user": &o.User, "agent": &o.Agent, "run": &o.Run}[kind]
		if to == nil || name == "" {
			return o, cli.Usagef("--owner %q: want user:NAME, agent:NAME or run:NAME", s)
		}
		*to = name
	}
	return o, nil
}

func appListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the apps", Args: cli.NoArgs(),
		RunE: cli.Listing(a, (*serve.Client).Apps, func(a0 io.Writer, a1 *serve.App) { appRow(a, a0, a1) }, "No apps. See locket app add --help"),
	}
}

func appWaitingCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "waiting", Short: "Show the apps that ask for access, with the code for each one's page", Args: cli.NoArgs(),
		Long: `An assistant without a key, such as ChatGPT or Home Assistant, asks for one at the address
of this node's /mcp, and opens a page in your browser. The page says what it asks for, lets
you allow less, and wants the code that this command shows. Never enter the code on any
other page.`,
		RunE: cli.Listing(a, (*serve.Client).WaitingApps, func(w io.Writer, p *serve.WaitingApp) {
			fmt.Fprintf(w, "%s  %q asks to %s, %s; the browser then goes to %s\n", string(p.Code), p.Name, rightsText(p.Can), a.ShowTime(p.At), cli.OneLine(p.Goes))
		}, "No app asks for access."),
	}
}

func appRow(a *cli.App, w io.Writer, p *serve.App) {
	state := "used " + a.ShowTime(p.Used)
	switch {
	case !p.Revoked.IsZero():
		state = "revoked " + a.ShowTime(p.Revoked)
	case !p.Ends.IsZero() && !time.Now().Before(p.Ends):
		state = "expired " + a.ShowTime(p.Ends)
	case p.Used.IsZero():
		state = "never used"
	}
	scope := listed(p.Types)
	if len(p.Types) == 0 {
		scope = "sees nothing"
	} else if p.Sensitivity != nil {
		scope += ", at most " + p.Sensitivity.String()
	}
	if len(p.Tags) > 0 {
		scope += ", tagged " + cli.OneLine(strings.Join(p.Tags, " or "))
	}
	for _, of := range [][2]string{{"user", p.Owner.User}, {"agent", p.Owner.Agent}, {"run", p.Owner.Run}} {
		if of[1] != "" {
			scope += ", of " + of[0] + " " + cli.OneLine(of[1])
		}
	}
	if !p.Since.IsZero() {
		scope += ", since " + a.Day(p.Since)
	}
	if !p.Until.IsZero() {
		scope += ", until " + a.Day(p.Until)
	}
	if p.Revoked.IsZero() && time.Now().Before(p.Ends) {
		state += ", valid until " + a.ShowTime(p.Ends)
	}
	if p.Hook != "" {
		state += ", told at " + cli.OneLine(p.Hook)
	}
	if p.HookOff != "" {
		state += " (not now: " + cli.OneLine(p.HookOff) + ")"
	}
	fmt.Fprintf(w, "%s  may %s  %s  %s\n", p.Name, rightsText(p.Can), scope, state)
}

func appLogCommand(a *cli.App) *cobra.Command {
	var limit int
	c := &cobra.Command{
		Use: "log NAME", Short: "Show what an app was shown, wrote and was refused", Args: cli.ArgsBetween(1, 1, "the app's name"),
		Long: `The log goes back 90 days, newest first. It is kept sealed on this device, and contains ids
but no texts: to see a memory, use locket get ID. Use --json to export the log.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			l, err := c.AppLog(cmd.Context(), args[0], limit)
			return a.PrintUnless(err, l, func(w io.Writer) { showAppLog(a, w, &l) })
		}),
	}
	cli.LimitFlag(c.Flags(), &limit, serve.DefaultPage, "`entries`")
	return c
}

// didWords describe what an app did.
var didWords = map[string]string{
	"search": "searched", "ask": "asked", "context": "took context", "topic": "had a model name the topic of its messages", "listMemories": "listed", "getMemory": "read", "memoryHistory": "read the history",
	"memoryWhy": "read the evidence", "graph": "drew a graph", "owners": "counted owners", "media": "took a photo or recording", "changes": "followed changes",
	"hook": "was called at its hook", "createShare": "shared", "revokeShare": "ended one of its shares", "listShares": "listed its shares", "askVault": "asked for an entry of the vault", "readVault": "read an entry of the vault with your yes", "addMemory": "added", "updateMemory": "corrected", "deleteMemory": "erased",
}

func showAppLog(a *cli.App, w io.Writer, l *serve.AppLog) {
	appRow(a, w, &l.App)
	for _, u := range l.Entries {
		did := cmp.Or(didWords[u.Did], u.Did)
		if u.Via != "" {
			did = "by key " + u.Via + " " + did
		}
		fmt.Fprintf(w, "%s  %s", a.ShowTime(u.At), did)
		switch {
		case u.Refused != "":
			fmt.Fprintf(w, ", and was refused: %s", cli.OneLine(u.Refused))
		case len(u.Wrote) > 0:
			fmt.Fprintf(w, "  %s", shortIDs(u.Wrote))
		case u.Did == "askVault", u.Did == "revokeShare", u.Did == "listShares", u.Did == "owners":
		case u.Did == "addMemory":
			fmt.Fprint(w, ", and no memory was made")
		case u.Did == "createShare":
			fmt.Fprintf(w, "  %s", shortIDs(u.Shown))
		case len(u.Shown) > 0:
			fmt.Fprintf(w, ", and was shown %s (%s)", shortIDs(u.Shown), cli.Plural(u.Tokens, "token", "tokens"))
		default:
			fmt.Fprint(w, ", and found nothing")
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "Today: %s of %d used", cli.Plural(l.Today.Tokens, "token", "tokens"), l.App.Tokens)
	if l.Today.Refused > 0 {
		fmt.Fprintf(w, ", %s refused", cli.Plural(l.Today.Refused, "request", "requests"))
	}
	if l.Today.Unnoted > 0 {
		fmt.Fprintf(w, ", %s that showed and wrote nothing (not listed)", cli.Plural(l.Today.Unnoted, "request", "requests"))
	}
	fmt.Fprintln(w, ".")
}

func shortIDs(ids []memory.ID) string {
	const most = 8
	var out []string
	for _, id := range ids[:min(len(ids), most)] {
		out = append(out, id.String()[:10])
	}
	s := strings.Join(slices.Clip(out), " ")
	if len(ids) > most {
		s += fmt.Sprintf(" and %d more", len(ids)-most)
	}
	return s
}

func appRevokeCommand(a *cli.App) *cobra.Command {
	var shares bool
	command := &cobra.Command{
		Use: "revoke NAME[:ID]", Short: "End an app's key, or one that it passed on", Args: cli.ArgsBetween(1, 1, "the app's name"),
		Long: `From now on the app's key opens nothing, and its open connections end. The same holds for
the keys that it passed on. NAME:ID ends only one of these, with the keys made from it:
locket app log shows which key was used. What the app wrote stays; to undo that, use
locket revert --app NAME. What it shared also stays, unless you give --shares.`,
		RunE: a.Call(func(cmd *cobra.Command, c *serve.Client, args []string) error {
			p, err := c.RevokeApp(cmd.Context(), args[0])
			if err == nil {
				err = revokeSharesOf(a, cmd.Context(), c, &p, shares)
			}
			return a.PrintUnless(err, p, func(w io.Writer) {
				if _, id, part := strings.Cut(args[0], ":"); part {
					fmt.Fprintf(w, "Key %s of %s and the keys made from it no longer open anything.\n", id, p.Name)
					return
				}
				fmt.Fprint(w, a.WithHomef("%s has no access any more. To undo what it wrote: locket revert --app %s\n", p.Name, p.Name))
			})
		}),
	}
	command.Flags().BoolVar(&shares, "shares", false, "also end what it shared")
	return command
}

// revokeSharesOf ends what an app shared, or says that it can still be read.
func revokeSharesOf(a *cli.App, ctx context.Context, c *serve.Client, p *serve.App, end bool) error {
	if !slices.Contains(p.Can, serve.RightShare) && !end {
		return nil
	}
	list, err := c.Shares(ctx)
	if errors.Is(err, serve.ErrUnsupported) { // without a relay nothing is shared
		return nil
	}
	list = slices.DeleteFunc(list, func(s serve.Share) bool { return s.App != p.Name || !s.Revoked.IsZero() })
	if err == nil && len(list) > 0 && !end {
		fmt.Fprint(a.Stderr, a.WithHomef("What it shared can still be read: %s. To end that: locket app revoke %s --shares\n", cli.Plural(len(list), "share", "shares"), p.Name))
		return nil
	}
	for i := range list {
		if _, rerr := c.RevokeShare(ctx, list[i].ID.String(), ""); rerr != nil {
			err = errors.Join(err, fmt.Errorf("share %s: %w", list[i].ID.String()[:10], rerr))
		}
	}
	if err == nil && len(list) > 0 && !a.JSON {
		fmt.Fprintf(a.Stderr, "%s ended.\n", cli.Plural(len(list), "share", "shares"))
	}
	return err
}

// rightsText says what an app may do, after "may".
func rightsText(list []serve.Right) string {
	out := listed(list)
	if slices.Contains(list, serve.RightVault) { // name the object of this right
		out = strings.Replace(out, string(serve.RightVault), "ask for secrets of your vault", 1)
	}
	return out
}

func listed[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return strings.Join(out, ", ")
}
