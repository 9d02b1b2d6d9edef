import { render } from 'preact';
import { App } from './shell/app';
import './style/base.css';

const root = document.getElementById('console');
if (root) render(<App />, root);
