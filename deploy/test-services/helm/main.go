// Renders a Helm chart as `helm template` does, where Helm itself cannot be had: Helm's templates are Go's text/template
// with the functions of sprig, and the few of Helm's own that are here. It knows one chart without dependencies.
//
//	render CHART RELEASE NAMESPACE < values.yaml > manifests.yaml
//
// Before it renders, Helm checks the values against values.schema.json; the test does that with a library of its own.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

// How often a template may include others before it is a circle; Helm's own number.
const maxDepth = 1000

type values = map[string]interface{}

type files struct{ root string }

func (f files) Get(name string) string {
	bytes, err := os.ReadFile(filepath.Join(f.root, name))
	if err != nil {
		return ""
	}
	return string(bytes)
}

type capabilities struct{ offered map[string]bool }

func (c capabilities) Has(api string) bool { return c.offered[api] }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return errors.New("usage: render CHART RELEASE NAMESPACE < values.yaml")
	}
	root, release, namespace := args[0], args[1], args[2]
	chart, err := read(filepath.Join(root, "Chart.yaml"))
	if err != nil {
		return err
	}
	defaults, err := read(filepath.Join(root, "values.yaml"))
	if err != nil {
		return err
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	given := values{}
	if err := yaml.Unmarshal(input, &given); err != nil {
		return err
	}
	// Helm spells the chart's members in capitals
	named := values{}
	for key, value := range chart {
		named[strings.ToUpper(key[:1])+key[1:]] = value
	}
	data := values{
		"Values":       merged(defaults, given),
		"Chart":        named,
		"Release":      values{"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1},
		"Capabilities": values{"KubeVersion": values{"Version": "v1.34.0", "Major": "1", "Minor": "34"}, "APIVersions": capabilities{}},
		"Files":        files{root},
	}
	return render(root, data)
}

func read(path string) (values, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := values{}
	return out, yaml.Unmarshal(bytes, &out)
}

// Values given win; a null removes the default, as with Helm.
func merged(under, over values) values {
	out := values{}
	for key, value := range under {
		out[key] = value
	}
	for key, value := range over {
		below, isMap := out[key].(values)
		above, isMapToo := value.(values)
		switch {
		case value == nil:
			delete(out, key)
		case isMap && isMapToo:
			out[key] = merged(below, above)
		default:
			out[key] = value
		}
	}
	return out
}

func render(root string, data values) error {
	all := template.New("chart").Option("missingkey=zero")
	depth := 0
	include := func(name string, dot interface{}) (string, error) {
		if depth++; depth > maxDepth {
			return "", fmt.Errorf("templates include each other more than %d deep at %s", maxDepth, name)
		}
		defer func() { depth-- }()
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, dot)
		return out.String(), err
	}
	functions := sprig.TxtFuncMap()
	// Helm takes these away, since a chart must not read the machine it is rendered on
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = include
	functions["tpl"] = func(text string, dot interface{}) (string, error) {
		own, err := all.Clone()
		if err != nil {
			return "", err
		}
		parsed, err := own.New("tpl").Parse(text)
		if err != nil {
			return "", err
		}
		var out strings.Builder
		err = parsed.Execute(&out, dot)
		return strings.ReplaceAll(out.String(), "<no value>", ""), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if text, isText := value.(string); value == nil || (isText && text == "") {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["lookup"] = func(string, string, string, string) values { return values{} }
	functions["toYaml"] = func(value interface{}) (string, error) {
		bytes, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(bytes), "\n"), err
	}
	functions["fromYaml"] = func(text string) (values, error) {
		out := values{}
		return out, yaml.Unmarshal([]byte(text), &out)
	}
	all.Funcs(functions)

	folder := filepath.Join(root, "templates")
	var names []string
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	sort.Strings(names)
	for _, path := range names {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if _, err := all.New(path).Parse(string(text)); err != nil {
			return err
		}
	}
	for _, path := range names {
		base := filepath.Base(path)
		if strings.HasPrefix(base, "_") {
			continue
		}
		text, err := include(path, data)
		if err != nil {
			return err
		}
		text = strings.TrimSpace(strings.ReplaceAll(text, "<no value>", ""))
		if text == "" {
			continue
		}
		source, _ := filepath.Rel(filepath.Dir(root), path)
		fmt.Printf("---\n# Source: %s\n%s\n", source, text)
	}
	return nil
}
