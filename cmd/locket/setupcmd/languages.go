package setupcmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
)

// localeLanguage is the language of the environment's locale, as the setting languages
// has it: "de" of de_DE.UTF-8. It is "en" where the locale has none.
func localeLanguage(environment func(string) string) string {
	locale := cmp.Or(environment("LC_ALL"), environment("LC_MESSAGES"), environment("LANG"))
	main, _, _ := strings.Cut(locale, ".")
	main, _, _ = strings.Cut(main, "_")
	if len(main) < 2 || len(main) > 3 || strings.ToLower(main) != main {
		return "en" // C, POSIX, or nothing
	}
	return main
}

// saySpoken says what follows from the languages that are set.
func (s *settingUp) saySpoken() {
	langs := s.App.Settings.Languages
	if len(langs) == 0 {
		return
	}
	all := strings.Join(langs, ", ")
	if len(langs) == 1 {
		s.Tell("Ears are told that all speech is in %s.\n", all)
	} else {
		s.Tell("Ears find out the language of each recording, if they can.\n")
	}
	if !slices.ContainsFunc(langs, speech.English) {
		s.Tell("PocketSphinx is not used: it hears English alone.\n")
	} else if len(langs) > 1 {
		s.Tell("PocketSphinx hears English alone, and writes wrong words for the rest.\n")
	}
	s.Tell("Tesseract reads print in %s, which have to be installed.\n", strings.Join(sight.TesseractNames(langs), ", "))
	if i := slices.IndexFunc(langs, func(tag string) bool { return !speech.English(tag) && tag != "zh" && !strings.HasPrefix(tag, "zh-") }); i >= 0 {
		s.Tell("Facts are found by rules in English and Chinese. For %s, add a mind.\n", langs[i])
	}
	s.Tell("To change it later: languages in config.toml.\n")
}
