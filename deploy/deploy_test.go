// Package deploy_test holds the files to deploy with against the program and
// the tools that read them.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ledgerd/ledgerd/events/eventstest"
	"github.com/ledgerd/ledgerd/internal/metrics"
	"github.com/ledgerd/ledgerd/projections/projectionstest"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func readYAML(t *testing.T, file string, into any) {
	t.Helper()
	if err := yaml.Unmarshal(read(t, file), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// run runs a tool of the machine; .ci/setup installs those that are missing.
func run(t *testing.T, tool string, args ...string) {
	t.Helper()
	if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", tool, strings.Join(args, " "), err, out)
	}
}

type rule struct {
	Alert, Expr string
	Labels      map[string]string
	Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	readYAML(t, "prometheus/alerts.yml", &file)
	return file.Groups[0].Rules
}

func TestAlertsFire(t *testing.T) {
	run(t, "promtool", "check", "rules", "prometheus/alerts.yml")
	run(t, "promtool", "test", "rules", "prometheus/alerts_test.yml")
}

// TestAlertsAskForWhatIsServed: every metric is one of the daemon's.
func TestAlertsAskForWhatIsServed(t *testing.T) {
	m := metrics.New("test")
	store, ledger := m.Store(projectionstest.NewModel()), eventstest.NewLedger()
	m.WatchStreams(eventstest.NewArrivals(), ledger)
	m.WatchLag("views", store, ledger)
	m.Projection("views")
	m.WatchReady(func() bool { return true })
	families, err := m.Gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, family := range families {
		served[family.GetName()] = true
	}
	asked := 0
	for _, r := range rules(t) {
		for _, name := range regexp.MustCompile(`ledgerd_[a-z_]+`).FindAllString(r.Expr, -1) {
			asked++
			if !served[name] && !served[strings.TrimSuffix(name, "_bucket")] {
				t.Errorf("%s asks for %s, which nobody serves", r.Alert, name)
			}
		}
	}
	if asked < 8 {
		t.Errorf("found %d metrics in the rules: they are not read right", asked)
	}
}

// TestEveryAlertHasARunbook: what it means, how to see it, what to do; and a
// test that it fires.
func TestEveryAlertHasARunbook(t *testing.T) {
	manual, tests := string(read(t, "../docs/operations.md")), string(read(t, "prometheus/alerts_test.yml"))
	for _, r := range rules(t) {
		_, chapter, found := strings.Cut(manual, "\n### "+r.Alert+"\n")
		chapter, _, _ = strings.Cut(chapter, "\n#")
		for _, part := range []string{"**Means**", "**See**", "**Do**"} {
			if !found || !strings.Contains(chapter, part) {
				t.Errorf("docs/operations.md: %s lacks %s", r.Alert, part)
			}
		}
		if want := "docs/operations.md#" + strings.ToLower(r.Alert); r.Annotations["runbook"] != want {
			t.Errorf("%s names the runbook %s, want %s", r.Alert, r.Annotations["runbook"], want)
		}
		if !strings.Contains(tests, "alertname: "+r.Alert+"\n        exp_alerts:") {
			t.Errorf("no test shows that %s fires", r.Alert)
		}
	}
}

// ledgerd builds the program.
func ledgerd(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ledgerd")
	run(t, "go", "build", "-o", binary, "../cmd/ledgerd")
	return binary
}

// TestConfigFilesAreTaken: those of compose and Kubernetes hold only what the
// program knows.
func TestConfigFilesAreTaken(t *testing.T) {
	binary := ledgerd(t)
	run(t, binary, "config", "print", "--config", "compose/ledgerd.yaml")
	decoder := yaml.NewDecoder(strings.NewReader(string(read(t, "kubernetes/ledgerd.yaml"))))
	for {
		var object struct {
			Kind string
			Data map[string]string
		}
		if decoder.Decode(&object) != nil {
			break
		}
		for name, content := range object.Data {
			file := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, binary, "config", "print", "--config", file)
		}
	}
}

// TestComposeNamesFilesThatExist, but for the secrets that its head tells how
// to make.
func TestComposeNamesFilesThatExist(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Configs []struct{ Source string }
			Secrets []any
			Volumes []string
		}
		Configs map[string]struct{ File string }
		Secrets map[string]struct{ File string }
		Volumes map[string]any
	}
	readYAML(t, "compose/compose.yaml", &compose)
	for name, config := range compose.Configs {
		read(t, filepath.Join("compose", config.File))
		t.Logf("config %s is %s", name, config.File)
	}
	head := string(read(t, "compose/compose.yaml"))
	for name, secret := range compose.Secrets {
		if !strings.Contains(head, "> "+secret.File) {
			t.Errorf("nothing says how secret %s is made", name)
		}
	}
	for service, s := range compose.Services {
		for _, config := range s.Configs {
			if _, ok := compose.Configs[config.Source]; !ok {
				t.Errorf("service %s mounts config %s, which is not defined", service, config.Source)
			}
		}
		for _, volume := range s.Volumes {
			if name, _, _ := strings.Cut(volume, ":"); compose.Volumes[name] == nil {
				t.Errorf("service %s mounts volume %s, which is not defined", service, name)
			}
		}
	}
}

// TestUnitIsTaken by systemd's own check.
func TestUnitIsTaken(t *testing.T) {
	dir := t.TempDir()
	binary := ledgerd(t)
	unit := strings.ReplaceAll(string(read(t, "systemd/ledgerd.service")), "/usr/local/bin/ledgerd", binary)
	file := filepath.Join(dir, "ledgerd.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "systemd-analyze", "verify", "--man=no", "--recursive-errors=no", file)
}
