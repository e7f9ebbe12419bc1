package setupcmd

import (
	"cmp"
	"slices"
	"strings"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
)

// localeLanguage returns the language of the environment's locale in the form of the setting
// languages: "de" for de_DE.UTF-8. It returns "en" if the locale names no language.
func localeLanguage(environment func(string) string) string {
	locale := cmp.Or(environment("LC_ALL"), environment("LC_MESSAGES"), environment("LANG"))
	main, _, _ := strings.Cut(locale, ".")
	main, _, _ = strings.Cut(main, "_")
	if len(main) < 2 || len(main) > 3 || strings.ToLower(main) != main {
		return "en" // C, POSIX, or nothing
	}
	return main
}

// saySpoken tells the person what the chosen languages mean for the engines.
func (s *settingUp) saySpoken() {
	langs := s.App.Settings.Languages
	if len(langs) == 0 {
		return
	}
	all := strings.Join(langs, ", ")
	if len(langs) == 1 {
		s.Tell("Ears will expect all speech to be in %s.\n", all)
	} else {
		s.Tell("Ears detect the language of each recording if they can.\n")
	}
	if !slices.ContainsFunc(langs, speech.English) {
		s.Tell("PocketSphinx is not used: it understands only English.\n")
	} else if len(langs) > 1 {
		s.Tell("PocketSphinx understands only English, and writes wrong words for other languages.\n")
	}
	s.Tell("Tesseract reads print with its language data %s, which must be installed.\n", strings.Join(sight.TesseractNames(langs), ", "))
	if i := slices.IndexFunc(langs, func(tag string) bool { return !speech.English(tag) && tag != "zh" && !strings.HasPrefix(tag, "zh-") }); i >= 0 {
		s.Tell("The rules find facts in English and Chinese only. For %s, add a mind.\n", langs[i])
	}
	s.Tell("To change this later, edit languages in config.toml.\n")
}
