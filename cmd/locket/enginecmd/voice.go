package enginecmd

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/locket-dev/locket/cmd/locket/cli"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/serve"
)

func VoiceCommand(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use: "voice", Short: "Recognise your voice, and name other people's", RunE: a.NeedsCommand,
		Long: `Once your voice is enrolled, each line says who spoke: you, somebody whom you have named, or
a label such as S2-a41f for an unknown voice. What an unknown voice says about itself is not
taken for yours. Until you enrol, everything that was heard counts as yours. The node makes
mistakes: a sentence of two seconds is often too short to tell apart two people who sound
alike. A voice that is not surely yours counts as unknown.

A voiceprint is biometric data. It stays in the sealed records of this device, and is never
part of a sync, share, export or backup. 'voice forget' erases it from all files. To keep
neither words nor sound of voices that you have not enrolled or named, set
voices.known_only.`,
		Example: `  locket voice enrol me.wav
  locket voice enrol --device pendant
  locket voice name S2 Grace
  locket voice list
  locket voice forget Grace`,
	}
	c.AddCommand(voiceEnrolCommand(a), voiceListCommand(a), voiceNameCommand(a), voiceForgetCommand(a))
	return c
}

func voiceEnrolCommand(a *cli.App) *cobra.Command {
	var r serve.EnrolVoiceRequest
	c := &cobra.Command{
		Use: "enrol [FILE.wav]", Short: "Learn a voice from half a minute of reading", Args: cli.ArgsBetween(0, 1, "the recording"),
		Long: `FILE is a WAV file in which one person reads aloud for half a minute. At least ten seconds of
speech are needed. With --device, Locket uses what a connected wearable hears next until it
has enough: read aloud, and let nobody else speak. Best use the wearable that you will wear,
because each microphone sounds different.

Enrolling again replaces what was known of the voice. A voice that is already known by
another name is refused.`,
		Example: `  locket voice enrol me.wav
  locket voice enrol --device pendant --seconds 45
  locket voice enrol grace.wav --name Grace`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (r.Device != "") {
				return cli.UsageError{Err: errors.New("want a WAV file, or a wearable: --device NAME")}
			}
			if r.Device != "" {
				return a.WithDaemon(cmd.Context(), func(cl *serve.Client) error { return enrolFrom(a, cmd, cl, r) })
			}
			info, err := os.Stat(args[0])
			if err == nil && info.Size() > serve.MaxVoiceSound {
				err = fmt.Errorf("%s is larger than %d MiB: half a minute is enough", args[0], serve.MaxVoiceSound>>20)
			}
			if err == nil {
				r.Sound, err = os.ReadFile(args[0])
			}
			if err != nil {
				return fmt.Errorf("reading the recording: %w", err)
			}
			return a.WithClient(cmd.Context(), true, func(cl *serve.Client) error {
				v, err := cl.EnrolVoice(cmd.Context(), r)
				if errors.Is(err, memory.ErrInvalid) {
					err = fmt.Errorf("%s: %w", args[0], err)
					if strings.Contains(err.Error(), sound.ErrFormat.Error()) { // it may come from the daemon as text
						err = cli.AdvisedError{Err: err, Advice: fmt.Sprintf("To convert a recording: ffmpeg -i %s -ac 1 -ar 16000 OUT.wav", cli.ShellWord(args[0]))}
					}
				}
				return voices(a, v, err)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&r.Name, "name", "", "`NAME` of the person, if the voice is not yours")
	f.StringVar(&r.Device, "device", "", "use what the wearable `NAME` hears next")
	f.IntVar(&r.Seconds, "seconds", 0, "with --device: how much speech (10 to 300; default 30)")
	return c
}

// enrolFrom waits until a wearable has heard enough.
func enrolFrom(a *cli.App, cmd *cobra.Command, cl *serve.Client, r serve.EnrolVoiceRequest) error {
	ctx := cmd.Context()
	v, err := cl.EnrolVoice(ctx, r)
	if err != nil || v.Enrolling == nil {
		return voices(a, v, err)
	}
	e := *v.Enrolling
	fmt.Fprintf(a.Stderr, "Read aloud before %s until it has heard %.0f s of speech.\n", cli.OneLine(e.Device), e.Want)
	m := a.Meter("heard", "s of speech", int(e.Want))
	for err == nil && v.Enrolling != nil {
		m.Done.Store(int64(v.Enrolling.Have))
		if !wait.For(ctx, time.Second) {
			m.End()
			return ctx.Err()
		}
		v, err = cl.Voices(ctx)
	}
	m.End()
	if err == nil && v.Failed != "" {
		return fmt.Errorf("nothing was changed: %s", v.Failed)
	}
	if err == nil && !slices.ContainsFunc(v.Voices, func(o serve.Voice) bool {
		return o.Known && o.Name == e.Name && o.Learnt.After(e.Until.Add(-enrolTime))
	}) {
		return fmt.Errorf("too little speech was heard by %s until %s; nothing was changed", e.Device, a.ShowTime(e.Until))
	}
	return voices(a, v, err)
}

// enrolTime is how long the node listens, at most.
const enrolTime = 10 * time.Minute

func voiceListCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the known voices, and the unknown ones of the last day", Args: cli.NoArgs(),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, _ []string) error {
			known, err := cl.Voices(cmd.Context())
			return voices(a, known, err)
		}),
	}
}

func voiceNameCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "name VOICE NAME", Short: "Name a voice", Args: cli.ArgsBetween(2, 2, "the voice or its name"),
		Long: `VOICE is a label such as S2-a41f, or just S2, or the current name of the voice. The new name
applies from now on: earlier lines keep the label. If the name is already known, the two
voices become one.`,
		Example: `  locket voice name S2 Grace`,
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			list, err := cl.NameVoice(cmd.Context(), args[0], args[1])
			return voices(a, list, knownVoices(a, err))
		}),
	}
}

// knownVoices returns err. If a voice was not found, it adds the command that lists voices.
func knownVoices(a *cli.App, err error) error {
	if errors.Is(err, memory.ErrNotFound) {
		return cli.AdvisedError{Err: err, Advice: "To list the known voices: " + a.WithHome("locket voice list")}
	}
	return err
}

func voiceForgetCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "forget NAME", Short: "Erase a voiceprint; what was said stays", Args: cli.ArgsBetween(1, 1, "the voice"),
		RunE: a.Call(func(cmd *cobra.Command, cl *serve.Client, args []string) error {
			list, err := cl.ForgetVoice(cmd.Context(), args[0])
			return voices(a, list, knownVoices(a, err))
		}),
	}
}

func voices(a *cli.App, v serve.Voices, err error) error {
	return a.PrintUnless(err, v, func(w io.Writer) {
		enrolled := false
		for _, o := range v.Voices {
			enrolled = enrolled || o.Wearer
			who, when := "", "learnt "
			switch {
			case o.Wearer:
				who = " (you)"
			case !o.Known:
				who, when = " (no name)", "heard "
				o.Learnt = o.Heard
			}
			fmt.Fprintf(w, "%s %5.0f s of speech, %s%s\n", cli.Padded(cli.OneLine(o.Name)+who, 24), o.Seconds, when, a.ShowTime(o.Learnt))
		}
		if e := v.Enrolling; e != nil {
			fmt.Fprintf(w, "%s hears %s: %.0f of %.0f s of speech\n", cli.OneLine(e.Device), cli.OneLine(e.Name), e.Have, e.Want)
		}
		if !enrolled && v.Enrolling == nil {
			fmt.Fprintln(w, a.WithHome("Your voice is not enrolled: everything that is heard counts as yours. To enrol it, read aloud for half a minute: locket voice enrol FILE.wav"))
		}
		if v.KnownOnly {
			fmt.Fprintln(w, "Nothing is kept of voices that are not enrolled or named (voices.known_only).")
		}
	})
}
