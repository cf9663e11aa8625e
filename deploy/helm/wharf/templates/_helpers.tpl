{{- define "wharf.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "wharf.fullname" -}}
{{- $name := include "wharf.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "wharf.selector" -}}
app.kubernetes.io/name: {{ include "wharf.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The gateway's own pods, and not that of `helm test`. */}}
{{- define "wharf.pods" -}}
{{ include "wharf.selector" . }}
app.kubernetes.io/component: gateway
{{- end }}

{{- define "wharf.testPods" -}}
{{ include "wharf.selector" . }}
app.kubernetes.io/component: test
{{- end }}

{{- define "wharf.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "wharf.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "wharf.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "wharf.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "wharf.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{/* The host of config.publicUrl, without its port. */}}
{{- define "wharf.host" -}}
{{- $authority := (urlParse .Values.config.publicUrl).host }}
{{- regexReplaceAll ":[0-9]+$" $authority "" }}
{{- end }}

{{/* What Wharf would refuse at its start, and what would lose files or sessions between replicas. */}}
{{- define "wharf.check" -}}
{{- $config := .Values.config }}
{{- $_ := required "config.publicUrl must be set: the URL at which clients reach Wharf, https://mcp.example.com" $config.publicUrl }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (regexMatch "^https?://[^/]" $config.publicUrl)) }}
{{- fail "ingress and httpRoute need a config.publicUrl that begins with http:// or https://, such as https://mcp.example.com: they would take the requests of every host" }}
{{- end }}
{{- $_ := required "config.servers must be set: the MCP servers that Wharf fronts, { search: { url: http://search:3001/mcp } }" $config.servers }}
{{- $_ := required "config.auth must be set: { use: apiKeys, … }, or { use: none, allowPublic: true } where a proxy lets in only callers that it knows" $config.auth }}
{{- $_ := required "image.repository must be set: where the image is that docker build -f deploy/Dockerfile makes, registry.example.com/mcp-wharf" .Values.image.repository }}
{{- $several := or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) }}
{{- if and $several (ne (dig "state" "use" "memory" $config) "redis") }}
{{- fail "several replicas need config.state: { use: redis, url: … }, since one must know the links and sessions of another; or set replicaCount: 1" }}
{{- end }}
{{- if and $several (ne (dig "objects" "use" "filesystem" $config) "s3") }}
{{- fail "several replicas need config.objects: { use: s3, … }, since one must read the files of another; or set replicaCount: 1" }}
{{- end }}
{{- end }}

{{/* Seconds of config.timeouts.drain; 0 for what only Wharf can read. */}}
{{- define "wharf.drainSeconds" -}}
{{- $drain := dig "timeouts" "drain" "30s" .Values.config | toString }}
{{- if regexMatch "^[0-9]+(s|m|h)$" $drain }}
{{- mul (regexFind "^[0-9]+" $drain | int) (get (dict "s" 1 "m" 60 "h" 3600) (regexFind "[smh]$" $drain)) }}
{{- else }}0{{ end }}
{{- end }}

{{/* wharf.yaml: what is given, and the ports, which the chart knows. */}}
{{- define "wharf.config" -}}
{{- $address := .Values.listenAddress }}
{{- $ports := dict "listen" (printf "%s:8080" $address) "adminListen" (printf "%s:9090" $address) "adminAllowPublic" true }}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) $ports) }}
{{- end }}
