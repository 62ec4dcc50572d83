// Builds one HTML file that needs no other: scripts and styles are put into the page. Its first
// line has the hash of all sources, which the test `web.template` compares.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vite';

function sourcesHash() {
  const files = ['index.html', 'package-lock.json', 'vite.config.js'];
  for (const name of readdirSync('src')) files.push('src/' + name);
  const sha256 = (data) => createHash('sha256').update(data).digest('hex');
  return sha256(files.sort().map((file) => `${sha256(readFileSync(file))}  ${file}\n`).join(''));
}

function singleFile() {
  return {
    name: 'single-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = bundle['index.html'];
      let html = page.source.replace(/<script type="module"[^>]*><\/script>/, '')
        .replace(/<link rel="stylesheet"[^>]*>/, '');
      let styles = '';
      let scripts = '';
      for (const [name, item] of Object.entries(bundle)) {
        if (name.endsWith('.css')) styles += item.source;
        if (name.endsWith('.js')) scripts += item.code.replaceAll('</script', '<\\/script');
        if (item !== page) delete bundle[name];
      }
      html = html.replace('</head>', () => `<style>${styles}</style></head>`)
        .replace('</body>', () => `<script type="module">${scripts}</script></body>`);
      page.source = html.replace('<!doctype html>',
        () => `<!doctype html>\n<!-- Catena report, built by \`npm run build\` from sources with SHA-256 ${sourcesHash()} -->`);
      page.fileName = 'report.html';
    },
  };
}

export default defineConfig({
  plugins: [singleFile()],
  esbuild: { charset: 'ascii', legalComments: 'inline' },
  build: {
    target: 'es2020',
    assetsInlineLimit: 1e9,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 4000,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
