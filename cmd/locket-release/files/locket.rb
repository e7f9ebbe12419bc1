class Locket < Formula
  desc "Memory for wearables that belongs to its wearer"
  homepage "https://github.com/locket-dev/locket"
  version "{{.Version}}"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "{{.MacARM.URL}}"
      sha256 "{{.MacARM.SHA256}}"
    end
    on_intel do
      url "{{.MacIntel.URL}}"
      sha256 "{{.MacIntel.SHA256}}"
    end
  end

  on_linux do
    on_arm do
      url "{{.LinuxARM.URL}}"
      sha256 "{{.LinuxARM.SHA256}}"
    end
    on_intel do
      url "{{.LinuxIntel.URL}}"
      sha256 "{{.LinuxIntel.SHA256}}"
    end
  end

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install Dir["share/bash-completion/completions/*"]
    zsh_completion.install Dir["share/zsh/site-functions/*"]
    fish_completion.install Dir["share/fish/vendor_completions.d/*"]
  end

  service do
    run [opt_bin/"locket", "run"]
    keep_alive crashed: true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/locket version")
    system bin/"locket", "--home", testpath/"home", "init", "--key-file", "--no-check"
    system bin/"locket", "--home", testpath/"home", "add", "I park the car on level 3"
    assert_match "level 3", shell_output("#{bin}/locket --home #{testpath}/home search car")
  end
end
